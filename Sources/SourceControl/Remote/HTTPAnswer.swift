import CLibGit2
import Glibc

/// The head of a server's answer, which is read line by line, and its meaning.
struct HTTPAnswer {
    /// The most bytes of all lines before and after the body, including those of `100 Continue`. Git servers send some hundred.
    static let maximumHead = 64 << 10

    enum Verdict: Equatable {
        /// The body is the requested content.
        case body
        /// The server asks for credentials, and accepts a user and a password.
        case credentialsAsked
    }

    private(set) var status = 0
    private(set) var contentType: String?
    private(set) var location: String?
    /// The server's `Retry-After` (RFC 9110, section 10.2.3), unparsed.
    private(set) var retryAfter: String?
    /// Whether the server reports that its rate limit is reached (`X-RateLimit-Remaining: 0`), as GitHub and GitLab do.
    private(set) var isUsedUp = false
    /// The end of the rate limit, in seconds since 1970 (`X-RateLimit-Reset`).
    private(set) var reset: Int?
    /// The names of the authentication schemes that the server offers.
    private(set) var challenges: [String] = []
    /// Whether the server accepts a user and a password.
    private(set) var takesPassword = false
    /// Whether the head of the final answer is complete; an interim answer does not count.
    private(set) var isWhole = false
    private var bytes = 0

    /// Reads a line of the head.
    /// - Parameter line: The line with its end. libcurl joins folded lines.
    mutating func take(_ line: some Collection<UInt8>) throws(HTTPFailure) {
        bytes += line.count
        guard bytes <= Self.maximumHead else {
            throw HTTPFailure(.unreachable, "the head of the server's answer is longer than \(Self.maximumHead) bytes")
        }
        // Fields after the body are ignored.
        guard !isWhole else { return }
        let text = String(decoding: line, as: UTF8.self).filter { $0 != "\r" && $0 != "\n" && $0 != "\r\n" }
        if text.hasPrefix("HTTP/") {
            let parts = text.split(separator: " ", maxSplits: 2)
            let before = bytes
            self = HTTPAnswer()
            (bytes, status) = (before, parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
        } else if text.isEmpty {
            // Interim answers may come before the final one (RFC 9110, section 15.2).
            isWhole = status >= 200
        } else if let colon = text.firstIndex(of: ":") {
            let value = String(text[text.index(after: colon)...].trimmed)
            switch text[..<colon].lowercased() {
            case "content-type": contentType = value
            case "location": location = value
            case "retry-after": retryAfter = value
            case "x-ratelimit-remaining", "ratelimit-remaining": isUsedUp = Int(value) == 0
            case "x-ratelimit-reset": reset = Int(value)
            case "www-authenticate":
                // Several schemes in one line are separated by commas, as are the parameters of each.
                let names = value.lowercased().split(separator: ",").map { $0.trimmed }
                challenges += value.split(separator: " ").prefix(1).map { String($0.prefix(40)) }
                if names.contains(where: { $0 == "basic" || $0.hasPrefix("basic ") }) { takesPassword = true }
            default: break
            }
        }
    }

    /// Returns what the answer means.
    /// - Parameter type: The content type of the expected answer. Any other type is not git's, such as a web page, or the answer of an old server
    ///   without git's protocol.
    func verdict(expecting type: String) throws(HTTPFailure) -> Verdict {
        switch status {
        case 200:
            guard contentType == type else { throw HTTPFailure(.unreachable, Self.noGit(contentType)) }
            return .body
        case 300..<400:
            throw HTTPFailure(.redirected, "http status \(status)" + (location.map { " to \(Self.shown($0))" } ?? ""))
        case 401:
            guard takesPassword else {
                let names = challenges.isEmpty ? "no way to sign in" : challenges.joined(separator: ", ")
                throw HTTPFailure(
                    nil, "it names \(names), and not Basic, by which a user and a password or token are given",
                    result: GIT_EAUTH.rawValue)
            }
            return .credentialsAsked
        // Servers also use this status for rate limits, and such a ban is temporary.
        case 403 where retryAfter != nil || isUsedUp:
            throw HTTPFailure(
                .unreachable, "the server limits requests, http status 403",
                retryAfter: pause(at: Self.now))
        case 403: throw HTTPFailure(.credentialsRefused, "http status 403")
        case 404, 410: throw HTTPFailure(.repositoryNotFound, "http status \(status)")
        case 407: throw HTTPFailure(.unreachable, "the proxy requires credentials, http status 407")
        case 429:
            throw HTTPFailure(
                .unreachable, "the server limits requests, http status 429",
                retryAfter: pause(at: Self.now))
        case 500..<600:
            throw HTTPFailure(
                .unreachable, "the server cannot answer at present, http status \(status)",
                retryAfter: pause(at: Self.now))
        default:
            throw HTTPFailure(.unreachable, "the server answered with http status \(status), which git does not use")
        }
    }

    /// Returns what an answer of another type means.
    private static func noGit(_ contentType: String?) -> String {
        guard let contentType else {
            return
                "the server answered without a content type, so not by git's \"smart\" HTTP protocol; serve the repository by "
                + "`git http-backend` or ssh, or write the address that `git clone` takes"
        }
        let type = contentType.prefix { $0 != ";" }.lowercased()
        if type.contains("html") {
            return
                "the server answered with a web page (\(contentType.prefix(100))) where git's protocol was expected: a sign-in page, a page of a "
                + "proxy, or an address that is not a repository; write the address that `git clone` takes, and store credentials if it "
                + "asks for them"
        }
        if type.hasPrefix("text/plain") || type.hasPrefix("application/octet-stream") {
            return
                "the server answered with a plain file (\(contentType.prefix(100))): it serves the repository's files by git's old \"dumb\" "
                + "protocol, which Martlet does not speak; serve it by `git http-backend` (\"smart\" HTTP) or ssh"
        }
        return
            "the server answered with something (\(contentType.prefix(100))) that is not an answer in git's protocol; write the address that `git clone` "
            + "takes"
    }

    // MARK: When to ask again

    /// The longest pause that a server can ask for.
    static let longestPause = Duration.seconds(3600)

    private static var now: Int { time(nil) }

    /// Returns the pause before the next request.
    /// - Parameter now: The time in seconds since 1970.
    /// - Returns: `nil` if the server states no pause, or not in the form of RFC 9110.
    func pause(at now: Int) -> Duration? {
        guard let retryAfter else {
            guard isUsedUp, let reset, reset >= now else { return nil }
            return reset - now < 3600 ? .seconds(reset - now) : Self.longestPause
        }
        if let seconds = Int(retryAfter) {
            return seconds < 0 ? nil : min(.seconds(seconds), Self.longestPause)
        }
        guard let moment = Self.seconds(of: retryAfter) else { return nil }
        return min(.seconds(max(0, moment - now)), Self.longestPause)
    }

    /// Parses a date in the usual form, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7), into seconds since 1970. `nil` for other forms.
    private static func seconds(of text: String) -> Int? {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let words = text.split { " :".contains($0) }.dropFirst().map(String.init)
        guard words.count == 7, words[6] == "GMT", let month = months.firstIndex(of: words[1]) else { return nil }
        let numbers = [words[0], words[2], words[3], words[4], words[5]].compactMap { Int32($0) }
        guard numbers.count == 5, (1970...9999).contains(numbers[1]), numbers.allSatisfy({ (0...9999).contains($0) })
        else {
            return nil
        }
        var parts = tm()
        (parts.tm_mday, parts.tm_mon, parts.tm_year) = (numbers[0], Int32(month), numbers[1] - 1900)
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (numbers[2], numbers[3], numbers[4])
        return timegm(&parts)
    }

    /// Returns a URL without its possibly secret parts: the account, and everything after the path.
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
