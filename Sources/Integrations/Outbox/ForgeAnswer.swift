import Foundation
import Model
import Transfer

/// What a forge's answer means for a message.
struct ForgeAnswer: Sendable {
    /// Of an answer, in bytes; thirty statuses have some 40,000.
    static let maximumBody = 256 << 10
    /// The longest excerpt of a forge's error, in characters.
    static let maximumExcerpt = 200

    /// `POST https://forge.example/api/v1/repos/acme/kit/statuses/…`, without a query.
    let operation: String
    let response: TransferResponse
    /// Never shown, whatever the answer says.
    let secret: String
    /// The secret's name.
    let credentials: String
    let forge: StatusTarget.Forge
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
        // A token that ran out or lacks a right is mended by a person: what waits for it is sent then.
        case 401:
            return .failed(
                OutboxFailure(
                    "\(what): it does not take the secret \(credentials); store a valid token with `martlet secret set "
                        + "\(credentials)`"))
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
        // Not about this message: 500 may be, so its destination's others go on.
        case 408, 425, 502...504:
            return .failed(OutboxFailure(what, retryAfter: retryAfter, mayHaveArrived: status > 500))
        case 409, 423, 500..<600:
            return .failed(
                OutboxFailure(what, retryAfter: retryAfter, isOfDestination: false, mayHaveArrived: status >= 500))
        default: return .refused("\(what); the forge refuses it for good")
        }
    }

    /// Whether there is no such thing any more.
    var isGone: Bool { [404, 410].contains(response.status) }

    /// Whether the token may not do that: another request may still be let through.
    var isDenied: Bool { response.status == 403 && rateLimit == nil }

    /// Which answer it was, with the forge's own sentence.
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

    /// What of the secret a forge could say back.
    private var forms: [String] {
        let password = secret.split(separator: ":", maxSplits: 1).dropFirst().first.map(String.init)
        return [Data(secret.utf8).base64EncodedString(), secret, password].compactMap { $0 }.filter { !$0.isEmpty }
    }

    /// The sentence within a JSON error; `nil` for anything else, such as a proxy's page.
    private static func message(_ body: [UInt8]) -> String? {
        struct Answer: Decodable {
            var message: Text?
            var error: Text?
            var errors: Text?
        }
        /// A text, or the first one of whatever stands in its place.
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

    /// What is sent: texts by name. Texts of Swift are always UTF-8, so that this cannot fail.
    static func bytes(of fields: [String: String]) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(fields)).map { Array($0) } ?? []
    }

    // MARK: - When to come again

    /// The pause that a rate limit asks for; `nil` if the answer is about something else.
    ///
    /// GitHub answers 403 or 429, with `Retry-After`, or with `x-ratelimit-remaining: 0` and the time of its end, or with neither for its secondary
    /// limits; GitLab and others 429.
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
