import Basics
import Glibc
import TestSupport
import Testing

/// The raw bytes of an answer. The request is sent byte for byte as written, which no HTTP client does with an attacker's paths.
struct RawAnswer: Sendable {
    let status: Int
    let headers: [(name: String, value: String)]
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    subscript(_ name: String) -> String? { headers.first { $0.name.lowercased() == name.lowercased() }?.value }

    /// Returns the headers as sorted lines.
    func lines(without names: String...) -> [String] {
        headers.filter { header in !names.contains { $0.lowercased() == header.name.lowercased() } }
            .map { "\($0.name.lowercased()): \($0.value)" }.sorted()
    }

    struct Failure: Error { let what: String }

    private static let queue = SerialQueue(label: "raw-http")

    static func send(
        _ method: String, _ target: String, headers: [(String, String)] = [], body: [UInt8] = [], port: Int
    ) async throws -> RawAnswer {
        // A request with TE is never answered from memory (`CachedFileAnswers`).
        var head = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nTE: trailers\r\n"
        if !body.isEmpty, !headers.contains(where: { $0.0 == "Content-Length" }) {
            head += "Content-Length: \(body.count)\r\n"
        }
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        let bytes = Array((head + "\r\n").utf8) + body
        let answer = try await queue.run { try exchange(bytes, port: port) }
        return try parse(answer, isHead: method == "HEAD")
    }

    /// Sends a raw text and returns everything until the connection is closed.
    /// - Parameter waitsForEnd: If false, it returns after the first answer's head.
    static func exchange(_ text: String, port: Int, waitsForEnd: Bool = true) async throws -> String {
        let answer = try await queue.run { try exchange(Array(text.utf8), port: port, waitsForEnd: waitsForEnd) }
        return String(decoding: answer, as: UTF8.self)
    }

    private static func exchange(_ bytes: [UInt8], port: Int, waitsForEnd: Bool = true) throws -> [UInt8] {
        guard let descriptor = LoopbackSocket.connected(to: port) else {
            throw Failure(what: "nobody listens at \(port)")
        }
        defer { close(descriptor) }
        LoopbackSocket.limitWaiting(of: descriptor)
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            // A server that refuses a body may close the connection before it has read all of it.
            if count <= 0 { break }
            sent += count
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count <= 0 { return answer }
            answer += buffer[..<count]
            if !waitsForEnd, answer.contains(UInt8(ascii: "\n")) { return answer }
        }
    }

    static func parse(_ bytes: [UInt8], isHead: Bool) throws -> RawAnswer {
        let end = Array("\r\n\r\n".utf8)
        guard let split = bytes.firstRange(of: end) else {
            throw Failure(what: "no answer: \(String(decoding: bytes.prefix(200), as: UTF8.self))")
        }
        let lines = String(decoding: bytes[..<split.lowerBound], as: UTF8.self).replacing("\r\n", with: "\n")
            .split(separator: "\n")
        let status = Int(lines[0].split(separator: " ")[1]) ?? 0
        let headers = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (name: String(parts[0]), value: parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
        }
        return RawAnswer(status: status, headers: headers, body: Array(bytes[split.upperBound...]))
    }
}
