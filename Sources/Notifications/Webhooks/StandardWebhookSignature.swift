import Basics
import Foundation
package import Model
import Storage

/// A signature according to Standard Webhooks (standard-webhooks.com, specification, "Signature scheme"). GitLab calls its key "signing token".
package struct StandardWebhookSignature: Sendable {
    private let id: String
    private let timestamp: String
    private let seconds: Int64
    /// The signatures of version 1. There are two while a key is replaced.
    package let signatures: [[UInt8]]

    /// The prefix of a key. The rest is base64 (gitlab!231325: of 32 bytes).
    package static let keyPrefix = "whsec_"
    /// How far the sender's clock may differ from this machine's in either direction, in seconds. The reference libraries use the same.
    static let tolerance: Int64 = 300
    /// The most signatures that are compared.
    static let maximumSignatures = 16
    /// The longest value of the header, in bytes: room for 16 signatures of 47 bytes.
    private static let maximumBytes = 1024

    /// - Parameter headers: The headers, by name in lower case.
    /// - Returns: `nil` unless `webhook-id`, `webhook-timestamp` and `webhook-signature` are present and well-formed.
    package init?(_ headers: [String: String]) {
        guard let id = headers["webhook-id"], NewEvent.isDeliveryID(id),
            let timestamp = headers["webhook-timestamp"], (1...12).contains(timestamp.utf8.count),
            timestamp.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Int64(timestamp),
            let text = headers["webhook-signature"], text.utf8.count <= Self.maximumBytes
        else { return nil }
        let signatures = text.split(separator: " ").prefix(Self.maximumSignatures).compactMap { item -> [UInt8]? in
            // Only one spelling of each is accepted: the unused bits of the last character must be zero.
            let text = String(item.dropFirst(3))
            guard item.hasPrefix("v1,"), let data = Data(base64Encoded: text), data.count == 32,
                data.base64EncodedString() == text
            else { return nil }
            return Array(data)
        }
        guard !signatures.isEmpty else { return nil }
        (self.id, self.timestamp, self.seconds, self.signatures) = (id, timestamp, seconds, signatures)
    }

    /// Returns the header that a receiver with the secret checks: `v1,` and the HMAC over id, time and body in base64.
    /// - Parameter seconds: The time, in seconds since 1970.
    /// - Returns: `nil` if the secret is no signing key.
    static func header(id: String, seconds: Int64, body: [UInt8], secret: String) -> String? {
        guard let key = key(of: secret) else { return nil }
        let digest = Digest.hmacSHA256(key: key, message: Array("\(id).\(seconds).".utf8) + body)
        return "v1," + Data(digest).base64EncodedString()
    }

    /// Returns the header with a signature for each secret. Receivers accept a request if one of them is right, so a key can be replaced without a
    /// gap.
    /// - Parameter secrets: The present secret first, then the one before. A later one that is no signing key is left out.
    /// - Returns: `nil` if there is no secret, or the first is no signing key.
    static func header(id: String, seconds: Int64, body: [UInt8], secrets: [String]) -> String? {
        let signatures = secrets.map { header(id: id, seconds: seconds, body: body, secret: $0) }
        guard let first = signatures.first, first != nil else { return nil }
        return signatures.compactMap(\.self).joined(separator: " ")
    }

    /// Decodes a key: `whsec_` and base64. `nil` for anything else.
    static func key(of secret: String) -> [UInt8]? {
        guard secret.hasPrefix(keyPrefix), let key = Data(base64Encoded: String(secret.dropFirst(keyPrefix.count))),
            !key.isEmpty
        else { return nil }
        return Array(key)
    }

    /// Returns the key of the HMAC-SHA256, and what it is made over before the message's body.
    /// - Returns: `nil` if the secret is no signing key, or if the signature was not made within `tolerance` of now.
    package func signed(by secret: String, at now: Timestamp) -> (key: [UInt8], prefix: [UInt8])? {
        guard let key = Self.key(of: secret),
            abs(now.millisecondsSinceEpoch / 1000 - seconds) <= Self.tolerance
        else { return nil }
        return (key, Array("\(id).\(timestamp).".utf8))
    }
}
