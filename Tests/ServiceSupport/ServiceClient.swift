import Foundation
import Glibc

/// An HTTP/1.1 client on the service's Unix socket. It sends one request after the other on one connection.
package final class ServiceClient {
    /// An answer.
    package struct Answer {
        package let status: Int
        package let body: [UInt8]
        package var text: String { String(decoding: body, as: UTF8.self) }
    }

    private let socket: String
    private var descriptor: Int32 = -1
    private var buffer: [UInt8] = []

    package init(socket: String) { self.socket = socket }
    deinit { disconnect() }

    /// Sends a request and reads its answer.
    /// - Throws: `ServiceFailure` if no server listens, the connection ends before the answer does, or no byte comes for a minute.
    package func send(
        _ method: String, _ path: String, headers: [String: String] = [:], body: String? = nil
    ) throws -> Answer {
        var text = "\(method) \(path) HTTP/1.1\r\nHost: martlet\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        if let body {
            if headers["Content-Type"] == nil { text += "Content-Type: application/json\r\n" }
            text += "Content-Length: \(body.utf8.count)\r\n"
        }
        text += "\r\n" + (body ?? "")
        // The service closes a connection after half a minute without a request.
        if descriptor >= 0, hasEnded { disconnect() }
        if descriptor < 0 { try connect() }
        do {
            try write(Array(text.utf8))
            return try answer()
        } catch {
            disconnect()
            throw error
        }
    }

    /// Returns the JSON object of a GET.
    /// - Throws: `ServiceFailure`, also for another status than 200.
    package func get(_ path: String) throws -> [String: Any] {
        let answer = try send("GET", "/api/v1/" + path)
        guard answer.status == 200,
            let object = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
        else { throw ServiceFailure("GET \(path): \(answer.status) \(answer.text.prefix(500))") }
        return object
    }

    /// Reads a streaming answer in pieces, until the reader has enough or the answer ends.
    /// - Parameter reader: Gets a piece, and returns whether further pieces are of interest.
    /// - Throws: `ServiceFailure`, also for an answer that is not chunked.
    package func stream(_ path: String, reader: (String) -> Bool) throws {
        disconnect()
        try connect()
        defer { disconnect() }
        try write(Array("GET \(path) HTTP/1.1\r\nHost: martlet\r\n\r\n".utf8))
        var head: [String] = []
        repeat {
            head.append(try line().trimmingCharacters(in: .whitespacesAndNewlines).lowercased())
        } while head.last != ""
        guard head.first?.contains(" 200") == true, head.contains("transfer-encoding: chunked") else {
            throw ServiceFailure("GET \(path): \(head.joined(separator: ", "))")
        }
        while true {
            let size = Int(try line().trimmingCharacters(in: .whitespacesAndNewlines), radix: 16) ?? 0
            let piece = try take(size)
            _ = try take(2)
            if size == 0 || !reader(String(decoding: piece, as: UTF8.self)) { return }
        }
    }

    private func connect() throws {
        descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        // A stopped daemon accepts connections and answers none of them.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socket.utf8.prefix(107)) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            let reason = String(cString: strerror(errno))
            disconnect()
            throw ServiceFailure("connect to \(socket): \(reason)")
        }
    }

    private var hasEnded: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 0
    }

    private func disconnect() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        buffer = []
    }

    private func write(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 || errno == EINTR else { throw ServiceFailure("the connection was closed") }
            sent += max(0, count)
        }
    }

    private func fill() throws {
        let part = [UInt8](unsafeUninitializedCapacity: 64 * 1024) { space, count in
            count = max(0, recv(descriptor, space.baseAddress, space.count, 0))
        }
        guard !part.isEmpty else {
            throw ServiceFailure("the connection ended, or was silent for a minute, before the answer did")
        }
        buffer += part
    }

    private func line() throws -> String {
        while true {
            if let end = buffer.firstIndex(of: 0x0A) {
                defer { buffer.removeFirst(end + 1) }
                return String(decoding: buffer[..<end], as: UTF8.self).trimmingCharacters(in: .whitespaces)
            }
            try fill()
        }
    }

    private func take(_ count: Int) throws -> [UInt8] {
        while buffer.count < count { try fill() }
        defer { buffer.removeFirst(count) }
        return Array(buffer[..<count])
    }

    private func answer() throws -> Answer {
        let words = try line().split(separator: " ")
        guard words.count >= 2, let status = Int(words[1]) else { throw ServiceFailure("no HTTP answer") }
        var length = 0
        var isChunked = false
        while true {
            let header = try line().trimmingCharacters(in: .whitespacesAndNewlines).lowercased()
            if header.isEmpty { break }
            if header.hasPrefix("content-length:") {
                length = Int(header.dropFirst(15).trimmingCharacters(in: .whitespaces)) ?? 0
            }
            if header.hasPrefix("transfer-encoding:"), header.hasSuffix("chunked") { isChunked = true }
        }
        if !isChunked { return Answer(status: status, body: try take(length)) }
        var body: [UInt8] = []
        while true {
            let size = Int(try line().trimmingCharacters(in: .whitespacesAndNewlines), radix: 16) ?? 0
            body += try take(size)
            _ = try take(2)
            if size == 0 { return Answer(status: status, body: body) }
        }
    }
}
