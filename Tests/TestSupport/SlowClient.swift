import Basics
import Glibc
package import Testing

/// An HTTP client that sends and reads only on request.
package final class SlowClient: Sendable {
    private let descriptor: Int32
    private static let queue = SerialQueue(label: "slow clients")

    /// Connects and sends a text.
    package init(_ text: String, port: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
        descriptor = try #require(LoopbackSocket.connected(to: port), sourceLocation: sourceLocation)
        LoopbackSocket.limitWaiting(of: descriptor)
        // With a small buffer little of an answer is in transit while the client does not read.
        LoopbackSocket.limitReceiving(of: descriptor)
        send(text)
    }

    /// Connects and sends the head of a request.
    /// - Parameter more: Further lines of the head.
    package convenience init(
        get target: String, _ more: String = "", port: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try self.init(
            "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n\(more)\r\n", port: port, sourceLocation: sourceLocation)
    }

    deinit { close(descriptor) }

    /// Sends more text.
    package func send(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count <= 0 { return }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Shuts down its sending side. It can still read.
    package func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Returns the answer's status line and headers, and the beginning of its body.
    package func head() async -> String {
        let descriptor = descriptor
        return await Self.queue.run {
            var (text, buffer) = ("", [UInt8](repeating: 0, count: 1024))
            while !text.contains("\r\n\r\n") {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                if count <= 0 { break }
                text += String(decoding: buffer[..<count], as: UTF8.self)
            }
            return text
        }
    }

    /// Returns the answer's status; 0 if the connection was closed without an answer.
    package func status() async -> Int {
        await head().split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }

    /// Reads until the connection is closed, and returns the number of bytes.
    package func rest() async -> Int {
        let descriptor = descriptor
        return await Self.queue.run {
            var (size, buffer) = (0, [UInt8](repeating: 0, count: 65_536))
            while true {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                if count <= 0 { return size }
                size += count
            }
        }
    }
}
