import Basics
import Glibc
import Synchronization
import TestSupport

/// A proxy on the loopback that connects each `CONNECT` to one port of the loopback, one after the other.
final class TunnelProxy: Sendable {
    let port: Int
    private let socket: LoopbackSocket
    private let received = Mutex<[String]>([])

    /// The heads of all requests so far.
    var requests: [String] { received.withLock { $0 } }

    private init() throws {
        socket = try LoopbackSocket()
        port = socket.port
    }

    static func serving(to port: Int, _ body: (TunnelProxy) async throws -> Void) async throws {
        let proxy = try TunnelProxy()
        try await withThrowingTaskGroup(of: Void.self) { group in
            let queue = SerialQueue(label: "proxy")
            group.addTask { await queue.run { proxy.serve(port) } }
            let result: Result<Void, any Error>
            do {
                try await body(proxy)
                result = .success(())
            } catch {
                result = .failure(error)
            }
            proxy.socket.stop()
            try await group.waitForAll()
            try result.get()
        }
    }

    private func serve(_ port: Int) {
        while let client = socket.accepted() {
            if let head = ScriptedHTTPServer.request(from: client), let server = LoopbackSocket.connected(to: port) {
                received.withLock { $0.append(head) }
                let answer = Array("HTTP/1.1 200 Connected\r\n\r\n".utf8)
                _ = send(client, answer, answer.count, Int32(MSG_NOSIGNAL))
                Self.join(client, server)
                close(server)
            }
            close(client)
        }
    }

    /// Copies bytes in both directions until one side closes.
    private static func join(_ one: Int32, _ other: Int32) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            var both = [one, other].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&both, 2, -1) > 0 else { return }
            for (index, end) in both.enumerated() where end.revents != 0 {
                let count = recv(end.fd, &buffer, buffer.count, 0)
                guard count > 0, send(both[1 - index].fd, buffer, count, Int32(MSG_NOSIGNAL)) == count else { return }
            }
        }
    }
}
