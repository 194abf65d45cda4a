import Foundation
import Glibc
import Synchronization
import TestSupport

/// A server that takes the requests of `hooks/post-receive` in place of a daemon, and gives the test's answers.
final class PushListener: Sendable {
    struct Request: Sendable {
        var head: String
        var body: String

        /// Returns the value of a header.
        func header(_ name: String) -> String? {
            head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
                .map { $0.dropFirst(name.count + 1).drop { $0 == " " } }.map(String.init)
        }
    }

    let socket: LoopbackSocket
    private let taken = Mutex<[Request]>([])

    var port: Int { socket.port }
    var requests: [Request] { taken.withLock { $0 } }

    /// - Parameter status: The status of each answer.
    init(port: Int = 0, status: Int = 202) throws {
        socket = try LoopbackSocket(port: port)
        // Ends with `stop()`.
        Thread.detachNewThread { [self] in
            while let connection = socket.accepted() {
                if let request = Self.request(connection) {
                    taken.withLock { $0.append(request) }
                    let answer = "HTTP/1.1 \(status) X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                    _ = answer.withCString { write(connection, $0, strlen($0)) }
                }
                close(connection)
            }
        }
    }

    func stop() { socket.stop() }

    private static func request(_ connection: Int32) -> Request? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(connection, &chunk, chunk.count)
            guard count > 0 else { return nil }
            bytes += chunk[..<count]
            let text = String(decoding: bytes, as: UTF8.self)
            guard let end = text.firstRange(of: "\r\n\r\n") else { continue }
            let request = Request(head: String(text[..<end.lowerBound]), body: String(text[end.upperBound...]))
            if request.body.utf8.count == request.header("Content-Length").flatMap({ Int($0) }) { return request }
        }
    }
}
