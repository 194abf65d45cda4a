import Model

/// The answers of a git server over http (gitprotocol-http(5)), as bytes.
enum SmartHTTPAnswer {
    static let listType = "application/x-git-upload-pack-advertisement"
    static let packType = "application/x-git-upload-pack-result"

    /// - Parameter length: The length in the head; `nil` for the real one.
    static func answer(_ type: String, _ body: [UInt8], length: Int? = nil, more: String = "") -> [UInt8] {
        Array("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n\(more)Content-Length: \(length ?? body.count)\r\n\r\n".utf8)
            + body
    }

    /// One branch, `main`.
    static func list(_ commit: CommitID, _ capabilities: String = "ofs-delta") -> [UInt8] {
        let lines = [
            "\(commit) HEAD\0symref=HEAD:refs/heads/main \(capabilities) agent=git/2.39\n",
            "\(commit) refs/heads/main\n",
        ]
        return Array(("001e# service=git-upload-pack\n0000" + lines.map(packet).joined() + "0000").utf8)
    }

    /// - Parameter pack: A complete pack.
    static func pack(_ pack: [UInt8]) -> [UInt8] { Array(packet("NAK\n").utf8) + pack }

    /// Returns a line in git's framing.
    static func packet(_ text: String) -> String {
        let digits = String(text.utf8.count + 4, radix: 16)
        return String(repeating: "0", count: 4 - digits.count) + digits + text
    }
}
