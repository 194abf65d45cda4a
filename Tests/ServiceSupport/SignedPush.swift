import Crypto
import Foundation

/// The event that a git server's hook sends after a push, signed with the bot's secret.
package struct SignedPush: Sendable {
    private let path: String
    private let headers: [String: String]
    private let body: String

    init(bot: String, delivery: String, commit: String, branch: String) {
        let zeros = String(repeating: "0", count: 40)
        body = #"{"updates":[{"ref":"refs/heads/\#(branch)","before":"\#(zeros)","after":"\#(commit)"}]}"#
        let code = HMAC<SHA256>.authenticationCode(
            for: Data(body.utf8), using: SymmetricKey(data: Data("a secret".utf8)))
        let digits = code.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        headers = ["X-Hub-Signature-256": "sha256=" + digits, "X-Martlet-Delivery": delivery]
        path = "/webhooks/push/\(bot)"
    }

    /// Sends the event.
    /// - Returns: The answer's status.
    /// - Throws: `ServiceFailure` if there is no answer.
    package func send(by client: ServiceClient) throws -> Int {
        try client.send("POST", path, headers: headers, body: body).status
    }
}
