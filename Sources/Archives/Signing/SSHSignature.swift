import Crypto

/// A signature of a file as `ssh-keygen -Y sign` makes it and `ssh-keygen -Y verify` reads it (PROTOCOL.sshsig of OpenSSH).
package struct SSHSignature: Hashable, Sendable {
    /// What is signed is a file: the namespace that ssh-keygen(1) has for them.
    package static let namespace = "file"
    /// Largest `.sig` read, in bytes. Ours has some 300.
    package static let maximumSize = 64 << 10

    private static let label = "SSH SIGNATURE"
    private static let magic = "SSHSIG"
    private static let version: UInt32 = 1

    /// Who signed.
    package let key: SignerKey
    /// What for: a signature for one purpose is none for another.
    package let namespace: String
    /// `sha512`, or `sha256` in what others made.
    private let algorithm: String
    private let signature: [UInt8]

    /// Signs.
    package init(of message: [UInt8], by key: SigningKey, namespace: String = Self.namespace) throws(ArchiveError) {
        self.key = key.publicKey
        self.namespace = namespace
        algorithm = "sha512"
        signature = try key.signature(
            of: Self.signed(namespace: namespace, algorithm: algorithm, digest: Array(SHA512.hash(data: message))))
    }

    /// Reads an armored signature; nothing for one that is none, or of another kind of key.
    package init?(armored text: String) {
        guard let bytes = Armor.decode(text, label: Self.label) else { return nil }
        var reader = SSHReader(bytes)
        guard reader.take(6)?.elementsEqual(Self.magic.utf8) ?? false, reader.number() == Self.version,
            let key = reader.string().flatMap(SignerKey.init(blob:)),
            let namespace = reader.string().flatMap({ String(validating: $0, as: UTF8.self) }), !namespace.isEmpty,
            reader.string() != nil,
            let algorithm = reader.string().flatMap({ String(validating: $0, as: UTF8.self) }),
            let blob = reader.string(), reader.isAtEnd
        else { return nil }
        var inner = SSHReader(blob)
        guard inner.expect(SignerKey.algorithm), let signature = inner.string(), inner.isAtEnd else { return nil }
        self.key = key
        self.namespace = namespace
        self.algorithm = algorithm
        self.signature = signature
    }

    /// The file's text.
    package var armored: String {
        let bytes =
            Array(Self.magic.utf8) + SSHWriter.number(Self.version) + SSHWriter.string(key.blob)
            + SSHWriter.string(namespace) + SSHWriter.string("") + SSHWriter.string(algorithm)
            + SSHWriter.string(SSHWriter.string(SignerKey.algorithm) + SSHWriter.string(signature))
        return Armor.encode(bytes, label: Self.label)
    }

    /// Whether it is its key's signature of a message. Whose key that is, `AllowedSigners` knows.
    package func isValid(for message: [UInt8]) -> Bool {
        let digest: [UInt8]
        switch algorithm {
        case "sha512": digest = Array(SHA512.hash(data: message))
        case "sha256": digest = Array(SHA256.hash(data: message))
        default: return false
        }
        return key.verifies(
            signature, of: Self.signed(namespace: namespace, algorithm: algorithm, digest: digest))
    }

    /// What the key signs: with the purpose and the digest, so that it can never be an answer to anything else.
    private static func signed(namespace: String, algorithm: String, digest: [UInt8]) -> [UInt8] {
        Array(magic.utf8) + SSHWriter.string(namespace) + SSHWriter.string("") + SSHWriter.string(algorithm)
            + SSHWriter.string(digest)
    }
}
