import Crypto
import FoundationEssentials

/// The public half of an Ed25519 key, as those who verify have it.
package struct SignerKey: Hashable, Sendable, CustomStringConvertible {
    /// The name of such keys and signatures (RFC 8709).
    static let algorithm = "ssh-ed25519"
    /// Of a key; a signature has twice as many.
    static let size = 32

    /// 32 bytes (RFC 8032).
    package let bytes: [UInt8]

    /// Nothing for another number of bytes.
    init?(bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// Reads a key's encoding (RFC 8709, section 4); nothing for another kind of key.
    init?(blob: [UInt8]) {
        var reader = SSHReader(blob)
        guard reader.expect(Self.algorithm), let bytes = reader.string(), reader.isAtEnd else { return nil }
        self.init(bytes: bytes)
    }

    /// Reads `ssh-ed25519 AAAA…`, the two words without a comment; nothing for another kind of key.
    package init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0] == Self.algorithm, let blob = Data(base64Encoded: String(words[1])) else {
            return nil
        }
        self.init(blob: Array(blob))
    }

    var blob: [UInt8] { SSHWriter.string(Self.algorithm) + SSHWriter.string(bytes) }

    /// As in a `.pub` file: `ssh-ed25519 AAAA…`.
    package var description: String { "\(Self.algorithm) \(Data(blob).base64EncodedString())" }

    /// As `ssh-keygen -l` shows it: `SHA256:` and 43 characters.
    package var fingerprint: String {
        let base64 = Data(SHA256.hash(data: blob)).base64EncodedString()
        return "SHA256:" + base64.prefix { $0 != "=" }
    }

    /// Whether it made a signature (64 bytes) of a message.
    func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard signature.count == 2 * Self.size, let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes)
        else { return false }
        return key.isValidSignature(signature, for: message)
    }
}
