import Basics
import Encodings
package import Model
package import Notifications

/// The proof of a delivery's authenticity, in the one form that its forge sends; other forms are ignored.
package enum WebhookProof: Sendable {
    /// An HMAC-SHA256.
    case digest([UInt8])
    /// The proof of GitLab: the secret itself, or a signature. The form of the configured secret decides which of them counts. So an attacker who can
    /// read requests cannot choose the weaker one.
    case gitlab(token: [UInt8]?, signature: StandardWebhookSignature?)

    /// - Returns: `nil` if the headers contain no proof of the exact form. That costs no hashing.
    package init?(of delivery: ForgeDelivery) {
        let headers = delivery.headers
        let digest: [UInt8]?
        switch delivery.forge {
        case .gitlab:
            let token = headers["x-gitlab-token"].map { Array($0.utf8) }
            let signature = StandardWebhookSignature(headers)
            guard token != nil || signature != nil else { return nil }
            self = .gitlab(token: token, signature: signature)
            return
        // `sha1=` alone is refused: it would let an attacker choose the weaker one.
        case .github, .push: digest = Self.digest(headers["x-hub-signature-256"], prefix: "sha256=")
        case .gitea: digest = Self.digest(headers["x-gitea-signature"])
        // Forgejo's own header counts first. If it is present and wrong, the other is ignored.
        case .forgejo: digest = Self.digest(headers["x-forgejo-signature"] ?? headers["x-gitea-signature"])
        case .gogs: digest = Self.digest(headers["x-gogs-signature"])
        // The digest is SHA-256, not SHA-1 as the header's name suggests (adnanh/webhook#662).
        case .bitbucket, .bitbucketServer: digest = Self.digest(headers["x-hub-signature"], prefix: "sha256=")
        }
        guard let digest else { return nil }
        self = .digest(digest)
    }

    /// Decodes a prefix and 64 lower-case hexadecimal digits, as every forge sends them; `nil` for anything else.
    package static func digest(_ text: String?, prefix: String = "") -> [UInt8]? {
        guard let text, text.utf8.count == prefix.utf8.count + 64, text.utf8.starts(with: prefix.utf8) else {
            return nil
        }
        let digits = text.utf8.dropFirst(prefix.utf8.count)
        guard digits.allSatisfy({ !(UInt8(ascii: "A")...UInt8(ascii: "F")).contains($0) }) else { return nil }
        return Hexadecimal.decode(String(decoding: digits, as: UTF8.self))
    }

    /// Whether this proof was made with a secret over a message. Always false for an empty secret.
    /// - Throws: `.unavailable` if the bytes cannot be read.
    package func holds(over message: WebhookBody, secret: String, at now: Timestamp) throws(ForgeError) -> Bool {
        guard !secret.isEmpty else { return false }
        switch self {
        case .digest(let given):
            return ConstantTime.areEqual(try message.authenticationCode(key: Array(secret.utf8)), given)
        case .gitlab(let token, let signature):
            if secret.hasPrefix(StandardWebhookSignature.keyPrefix) {
                guard let signature, let signed = signature.signed(by: secret, at: now) else { return false }
                let code = try message.authenticationCode(key: signed.key, prefix: signed.prefix)
                return signature.signatures.reduce(false) { ConstantTime.areEqual(code, $1) || $0 }
            }
            return token.map { ConstantTime.areEqual(Array(secret.utf8), $0) } ?? false
        }
    }
}
