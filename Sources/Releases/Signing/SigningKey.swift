package import Archives
import Crypto
import SourceControl

/// The key that signs versions: an Ed25519 key from the file that `ssh-keygen -t ed25519 -N ''` writes.
///
/// Only the daemon holds it, while a version is staged. It is never printed.
package struct SigningKey: Sendable, CustomStringConvertible, CustomReflectable {
    private let key: Curve25519.Signing.PrivateKey
    package let publicKey: SignerKey

    package var description: String { "the key \(publicKey.fingerprint)" }
    package var customMirror: Swift.Mirror { Swift.Mirror(self, children: []) }

    /// Parses a private key of OpenSSH (PROTOCOL.key of OpenSSH).
    /// - Throws: `key` if the text is not such a key, is encrypted, or is another kind of key. Messages never contain
    ///   its bytes.
    package init(openSSH text: String) throws(ArchiveError) {
        func refused(_ message: String) -> ArchiveError {
            ArchiveError(code: .key, operation: "reading of the signing key", message: message)
        }
        let make = "make one with `ssh-keygen -t ed25519 -N '' -f FILE`"
        guard let bytes = Armor.decode(text, label: "OPENSSH PRIVATE KEY") else {
            throw refused("it is not a private key of OpenSSH; \(make)")
        }
        var reader = SSHReader(bytes)
        guard reader.take(15)?.elementsEqual("openssh-key-v1\0".utf8) ?? false, let cipher = reader.string(),
            let derivation = reader.string(), reader.string() != nil, reader.number() == 1,
            let blob = reader.string(), let secret = reader.string(), reader.isAtEnd
        else { throw refused("the file is damaged; \(make)") }
        guard cipher.elementsEqual("none".utf8), derivation.elementsEqual("none".utf8) else {
            throw refused(
                "it has a passphrase, and nobody can type it when a version is published; remove it with "
                    + "`ssh-keygen -p -N '' -f FILE`, and let systemd encrypt the file (systemd-creds)")
        }
        guard let publicKey = SignerKey(blob: blob) else { throw refused("it is not an Ed25519 key; \(make)") }
        var inner = SSHReader(secret)
        guard let check = inner.number(), check == inner.number(), inner.expect(SignerKey.algorithm),
            inner.string() == publicKey.bytes, let pair = inner.string(), pair.count == 2 * SignerKey.size,
            Array(pair.suffix(SignerKey.size)) == publicKey.bytes, inner.string() != nil,
            // The padding to the cipher's block size is 1, 2, 3 …
            inner.remaining.enumerated().allSatisfy({ Int($1) == $0 + 1 }),
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: pair.prefix(SignerKey.size)),
            Array(key.publicKey.rawRepresentation) == publicKey.bytes
        else { throw refused("the file is damaged; \(make)") }
        self.key = key
        self.publicKey = publicKey
    }

    /// Returns the signature of a message: 64 bytes (RFC 8032, section 5.1.6).
    func signature(of message: [UInt8]) throws(ArchiveError) -> [UInt8] {
        do {
            return Array(try key.signature(for: message))
        } catch {
            throw ArchiveError(
                code: .key, operation: "signing", message: "the key cannot sign: \(error)", underlying: error)
        }
    }
}
