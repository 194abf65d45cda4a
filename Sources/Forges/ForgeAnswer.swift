import Foundation
import Model
import Notifications
import Transfer

/// Determines what a forge's answer means for a message.
struct ForgeAnswer: Sendable {
    /// The largest answer, in bytes; thirty statuses have about 40,000.
    static let maximumBody = 256 << 10
    /// The longest excerpt of a forge's error, in characters.
    static let maximumExcerpt = 200

    /// The method and URL without a query, such as `POST https://forge.example/api/v1/repos/acme/kit/statuses/…`.
    let operation: String
    let response: TransferResponse
    /// The secret's value, which is never shown, even if the answer contains it.
    let secret: String
    /// The secret's name.
    let credentials: String
    let forge: StatusForge
    let now: Timestamp

    var outcome: OutboxOutcome {
        let status = response.status
        if response.isSuccess { return .sent() }
        if let pause = rateLimit { return .failed(OutboxFailure("\(what); it is asked too often", retryAfter: pause)) }
        switch status {
        case 300..<400:
            return .refused(
                "\(what): it wants us elsewhere, where the token is not sent; write the new address into `repository` or "
                    + "`status: { api: … }`")
        // A user replaces a token that has expired or lacks a right. The messages that wait for it are sent then.
        case 401:
            return .failed(
                OutboxFailure(
                    "\(what): it does not take the secret \(credentials); store a valid token with `martlet secret set "
                        + "\(credentials)`", isOfCredentials: true))
        case 403:
            return .failed(
                OutboxFailure(
                    "\(what): the token of the secret \(credentials) may not do that there; give it the right"))
        // GitHub answers 404 for what a token may not see (docs.github.com, "Troubleshooting the REST API"), and 422 for an unknown commit.
        case 404 where forge == .github:
            return .failed(
                OutboxFailure(
                    "\(what): it knows no such repository, or hides it from the token of the secret \(credentials); compare "
                        + "`repository` and `status` with the forge, and what the token may see",
                    isOfDestination: false))
        case 404:
            return .refused(
                "\(what): it knows no such repository or commit, or hides it from the token; compare `repository` and `status` "
                    + "with the forge, and what the token may see")
        // The failure may not be about this message. A 500 may be, so the destination's other messages are still sent.
        case 408, 425, 502...504:
            return .failed(OutboxFailure(what, retryAfter: retryAfter, mayHaveArrived: status > 500))
        case 409, 423, 500..<600:
            return .failed(
                OutboxFailure(what, retryAfter: retryAfter, isOfDestination: false, mayHaveArrived: status >= 500))
        default: return .refused("\(what); the forge refuses it for good")
        }
    }

    /// Whether the object no longer exists.
    var isGone: Bool { [404, 410].contains(response.status) }

    /// Whether the token lacks the right for this request. Another request may still be permitted.
    var isDenied: Bool { response.status == 403 && rateLimit == nil }

    /// The answer's status, with the forge's own explanation.
    private var what: String {
        let said = excerpt
        return "\(operation) answered \(response.status)" + (said.isEmpty ? "" : " (\(said))")
    }

    /// The forge's explanation, as a text without the secret; empty if there is none.
    var excerpt: String {
        guard let text = Self.message(response.body) else { return "" }
        var line = String(text.map { $0.isNewline ? " " : $0 }).inOneBlankedLine
        for form in forms { line = line.replacing(form, with: "…") }
        return line.count <= Self.maximumExcerpt ? line : line.prefix(Self.maximumExcerpt - 1) + "…"
    }

    /// The forms of the secret that a forge could repeat in its answer.
    private var forms: [String] {
        let password = secret.split(separator: ":", maxSplits: 1).dropFirst().first.map(String.init)
        return [Data(secret.utf8).base64EncodedString(), secret, password].compactMap { $0 }.filter { !$0.isEmpty }
    }

    /// Returns the explanation in a JSON error; `nil` for any other body, such as a proxy's page.
    private static func message(_ body: [UInt8]) -> String? {
        struct Answer: Decodable {
            var message: Text?
            var error: Text?
            var errors: Text?
        }
        /// A text, or the first text of another value at this place.
        struct Text: Decodable {
            var text: String?

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if let text = try? container.decode(String.self) {
                    self.text = text
                } else if let texts = try? container.decode([String: [String]].self) {
                    text = texts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.joined(separator: ", "))" }
                        .joined(separator: "; ")
                } else if let list = try? container.decode([Detail].self) {
                    text = list.first?.message ?? list.first?.code
                } else if let detail = try? container.decode(Detail.self) {
                    text = detail.message
                }
            }
        }
        struct Detail: Decodable {
            var message: String?
            var code: String?
        }
        guard body.count <= maximumBody, let answer = try? JSONDecoder().decode(Answer.self, from: Data(body)) else {
            return nil
        }
        let texts = [answer.message?.text, answer.error?.text, answer.errors?.text].compactMap { $0 }
        return texts.isEmpty ? nil : texts.joined(separator: ": ")
    }

    /// Returns texts by name as JSON. Swift's texts are always valid Unicode, so this cannot fail.
    static func bytes(of fields: [String: String]) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(fields)).map { Array($0) } ?? []
    }

    // MARK: - When to come again

    /// The pause that a rate limit asks for; `nil` if the answer is not about a rate limit.
    ///
    /// GitHub answers 403 or 429. It adds `Retry-After`, or `x-ratelimit-remaining: 0` with the time of its end, or neither for its secondary limits.
    /// GitLab and others answer 429.
    private var rateLimit: Duration? {
        let isUsedUp =
            response.headers["x-ratelimit-remaining"] == "0" || response.headers["ratelimit-remaining"] == "0"
        let isSecondary = response.status == 403 && excerpt.lowercased().contains("rate limit")
        guard response.status == 429 || (response.status == 403 && (isUsedUp || isSecondary || retryAfter != nil))
        else {
            return nil
        }
        if let retryAfter { return retryAfter }
        for name in ["x-ratelimit-reset", "ratelimit-reset"] {
            guard let text = response.headers[name], let seconds = Int64(text), seconds >= 0 else { continue }
            let wait = Timestamp(secondsSinceEpoch: seconds) - now
            return wait < .seconds(1) ? .seconds(1) : wait
        }
        return RetryAfter.usual
    }

    private var retryAfter: Duration? { RetryAfter.duration(in: response.headers, now: now) }
}
