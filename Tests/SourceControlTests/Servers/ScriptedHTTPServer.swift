import Basics
import Glibc
import Synchronization
import TestSupport
import Testing

/// An HTTP server on the loopback that answers each request with the next of its answers, and keeps what was asked.
final class ScriptedHTTPServer: Sendable {
    let port: Int
    private let socket: LoopbackSocket
    private let received = Mutex<[String]>([])

    /// The heads of all requests so far.
    var requests: [String] { received.withLock { $0 } }

    private init() throws {
        socket = try LoopbackSocket()
        port = socket.port
    }

    /// - Parameter answer: Gets the request's head and returns the whole answer.
    static func serving(
        _ answer: @escaping @Sendable (String) -> String, _ body: (ScriptedHTTPServer) async throws -> Void
    ) async throws {
        let server = try ScriptedHTTPServer()
        try await withThrowingTaskGroup(of: Void.self) { group in
            let lane = BlockingLane(label: "http")
            group.addTask { await lane.run { server.serve(answer) } }
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

    /// Ends when the socket is stopped. Each answer closes its connection.
    private func serve(_ answer: (String) -> String) {
        while let connection = socket.accepted() {
            var head: [UInt8] = []
            var byte: UInt8 = 0
            while !head.suffix(4).elementsEqual("\r\n\r\n".utf8), recv(connection, &byte, 1, 0) == 1 {
                head.append(byte)
            }
            let text = String(decoding: head, as: UTF8.self)
            received.withLock { $0.append(text) }
            let bytes = Array(answer(text).utf8)
            _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            close(connection)
        }
    }
}
