import Crypto
import FoundationEssentials

/// The public half of an Ed25519 key.
package struct SignerKey: Hashable, Sendable, CustomStringConvertible {
    /// The name of Ed25519 keys and signatures (RFC 8709).
    static let algorithm = "ssh-ed25519"
    /// The size of a key in bytes. A signature has twice as many.
    static let size = 32

    /// The key's 32 bytes (RFC 8032).
    package let bytes: [UInt8]

    /// Creates a key.
    /// - Returns: `nil` if there are not exactly 32 bytes.
    init?(bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// Decodes a key (RFC 8709, section 4).
    /// - Returns: `nil` for other kinds of keys.
    init?(blob: [UInt8]) {
        var reader = SSHReader(blob)
        guard reader.expect(Self.algorithm), let bytes = reader.string(), reader.isAtEnd else { return nil }
        self.init(bytes: bytes)
    }

    /// Parses `ssh-ed25519 AAAA…`, without a comment.
    /// - Returns: `nil` for other texts and kinds of keys.
    package init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0] == Self.algorithm, let blob = Data(base64Encoded: String(words[1])) else {
            return nil
        }
        self.init(blob: Array(blob))
    }

    var blob: [UInt8] { SSHWriter.string(Self.algorithm) + SSHWriter.string(bytes) }

    /// The form in a `.pub` file: `ssh-ed25519 AAAA…`.
    package var description: String { "\(Self.algorithm) \(Data(blob).base64EncodedString())" }

    /// The fingerprint, as `ssh-keygen -l` prints it: `SHA256:` and 43 characters.
    package var fingerprint: String {
        let base64 = Data(SHA256.hash(data: blob)).base64EncodedString()
        return "SHA256:" + base64.prefix { $0 != "=" }
    }

    /// Whether this key made a signature of a message. The signature has 64 bytes.
    func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard signature.count == 2 * Self.size, let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes)
        else { return false }
        return key.isValidSignature(signature, for: message)
    }
}
