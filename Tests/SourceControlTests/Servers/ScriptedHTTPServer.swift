import Basics
import Glibc
import Synchronization
import TestSupport
import Testing

/// An HTTP server on the loopback that answers each request with the next of its answers, and records the requests.
final class ScriptedHTTPServer: Sendable {
    let port: Int
    private let socket: LoopbackSocket
    private let received = Mutex<[String]>([])
    private let accepted = Mutex(0)

    /// The heads of all requests so far.
    var requests: [String] { received.withLock { $0 } }
    /// The number of connections so far.
    var connections: Int { accepted.withLock { $0 } }

    private init() throws {
        socket = try LoopbackSocket()
        port = socket.port
    }

    /// - Parameter answer: Gets the request's head and returns the complete answer, after which the connection is closed.
    static func serving(
        _ answer: @escaping @Sendable (String) -> String, _ body: (ScriptedHTTPServer) async throws -> Void
    ) async throws {
        try await serving(bytes: { Array(answer($0).utf8) }, body)
    }

    /// - Parameters:
    ///   - isLasting: Whether a connection serves until the client closes it. Only then is the next one accepted.
    ///   - answer: Gets the request's head and returns the complete answer.
    static func serving(
        isLasting: Bool = false, bytes answer: @escaping @Sendable (String) -> [UInt8],
        _ body: (ScriptedHTTPServer) async throws -> Void
    ) async throws {
        let server = try ScriptedHTTPServer()
        try await withThrowingTaskGroup(of: Void.self) { group in
            let queue = SerialQueue(label: "http")
            group.addTask { await queue.run { server.serve(isLasting, answer) } }
            let result: Result<Void, any Error>
            do {
                try await body(server)
                result = .success(())
            } catch {
                result = .failure(error)
            }
            server.socket.stop()
            try await group.waitForAll()
            try result.get()
        }
    }

    /// Ends when the socket is stopped.
    private func serve(_ isLasting: Bool, _ answer: (String) -> [UInt8]) {
        while let connection = socket.accepted() {
            accepted.withLock { $0 += 1 }
            repeat {
                guard let head = Self.request(from: connection) else { break }
                received.withLock { $0.append(head) }
                let bytes = answer(head)
                guard send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { break }
            } while isLasting
            close(connection)
        }
    }

    /// Returns the head of the next request. It reads the body too, because closing a connection with unread bytes breaks it.
    static func request(from connection: Int32) -> String? {
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard recv(connection, &byte, 1, 0) == 1 else {
                return head.isEmpty ? nil : String(decoding: head, as: UTF8.self)
            }
            head.append(byte)
        }
        let text = String(decoding: head, as: UTF8.self)
        let length = text.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
        var left = length.flatMap { Int($0.dropFirst("content-length:".count).drop { $0 == " " }) } ?? 0
        while left > 0, recv(connection, &byte, 1, 0) == 1 { left -= 1 }
        return text
    }
}
