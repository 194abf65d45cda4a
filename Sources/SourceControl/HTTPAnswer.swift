import CLibGit2

/// The head of a server's answer, taken line by line, and what it means.
struct HTTPAnswer {
    /// Bytes of all lines before and after the body, those of `100 Continue` counted. Servers of git send some hundred.
    static let maximumHead = 64 << 10

    enum Verdict: Equatable {
        /// What follows is what was asked for.
        case body
        /// The server asks who we are, and takes a user and a password.
        case credentialsAsked
    }

    private(set) var status = 0
    private(set) var contentType: String?
    private(set) var location: String?
    /// Whether a user and a password are among what the server asks for.
    private(set) var takesPassword = false
    /// Whether the head of the answer itself is here, not of one that only announces it.
    private(set) var isWhole = false
    private var bytes = 0

    /// - Parameter line: With its end; libcurl joins folded ones.
    mutating func take(_ line: some Collection<UInt8>) throws(HTTPFailure) {
        bytes += line.count
        guard bytes <= Self.maximumHead else {
            throw HTTPFailure(.unreachable, "the head of the server's answer is longer than \(Self.maximumHead) bytes")
        }
        // Fields after the body say nothing.
        guard !isWhole else { return }
        let text = String(decoding: line, as: UTF8.self).filter { $0 != "\r" && $0 != "\n" && $0 != "\r\n" }
        if text.hasPrefix("HTTP/") {
            let parts = text.split(separator: " ", maxSplits: 2)
            let before = bytes
            self = HTTPAnswer()
            (bytes, status) = (before, parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
        } else if text.isEmpty {
            // RFC 9110, 15.2: others may come before the answer.
            isWhole = status >= 200
        } else if let colon = text.firstIndex(of: ":") {
            let value = String(text[text.index(after: colon)...].trimmed)
            switch text[..<colon].lowercased() {
            case "content-type": contentType = value
            case "location": location = value
            case "www-authenticate":
                // Several in one line are told apart by commas, as are the parameters of each.
                let names = value.lowercased().split(separator: ",").map { $0.trimmed }
                if names.contains(where: { $0 == "basic" || $0.hasPrefix("basic ") }) { takesPassword = true }
            default: break
            }
        }
    }

    /// - Parameter type: Of the answer that was asked for. Every other is none of git's: a page that wants a browser, an old server
    ///   without git's protocol.
    func verdict(expecting type: String) throws(HTTPFailure) -> Verdict {
        switch status {
        case 200:
            guard let contentType else { throw HTTPFailure(.unreachable, "no content-type header in response") }
            guard contentType == type else {
                throw HTTPFailure(.unreachable, "invalid content-type: '\(contentType.prefix(100))'")
            }
            return .body
        case 300..<400:
            throw HTTPFailure(.redirected, "http status \(status)" + (location.map { " to \(Self.shown($0))" } ?? ""))
        case 401:
            guard takesPassword else {
                throw HTTPFailure(
                    nil, "it asks for another kind than a user and a password", result: GIT_EAUTH.rawValue)
            }
            return .credentialsAsked
        case 404, 410: throw HTTPFailure(.repositoryNotFound, "http status \(status)")
        case 407: throw HTTPFailure(.unreachable, "the proxy refuses us, http status 407")
        default: throw HTTPFailure(.unreachable, "unexpected http status code: \(status)")
        }
    }

    /// An address without what may be secret in it: an account, and all after the path.
    private static func shown(_ location: String) -> String {
        var text = location.prefix { $0 != "?" && $0 != "#" }
        let start = text.firstRange(of: "//")?.upperBound ?? text.startIndex
        let end = text[start...].firstIndex(of: "/") ?? text.endIndex
        if let at = text[start..<end].lastIndex(of: "@") { text.removeSubrange(start...at) }
        for suffix in ["/info/refs", "/git-upload-pack"] where text.hasSuffix(suffix) { text.removeLast(suffix.count) }
        return String(text.prefix(200))
    }
}

extension StringProtocol {
    fileprivate var trimmed: SubSequence {
        let start = drop { $0 == " " || $0 == "\t" }
        return start[
            ..<(start.lastIndex { $0 != " " && $0 != "\t" }.map { start.index(after: $0) } ?? start.startIndex)]
    }
}
