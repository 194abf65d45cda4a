import Crypto

/// A signature of a file, as `ssh-keygen -Y sign` makes it and `ssh-keygen -Y verify` reads it (PROTOCOL.sshsig of OpenSSH).
package struct SSHSignature: Hashable, Sendable {
    /// The namespace for signatures of files, according to ssh-keygen(1).
    package static let namespace = "file"
    /// The size limit of a `.sig` file in bytes. Martlet's have some 300.
    package static let maximumSize = 64 << 10

    private static let label = "SSH SIGNATURE"
    private static let magic = "SSHSIG"
    private static let version: UInt32 = 1

    /// The key that signed.
    package let key: SignerKey
    /// The purpose of the signature. It is not valid for any other.
    package let namespace: String
    /// `sha512`, or also `sha256` in signatures of other tools.
    private let algorithm: String
    private let signature: [UInt8]

    /// Signs a message.
    package init(of message: [UInt8], by key: SigningKey, namespace: String = Self.namespace) throws(ArchiveError) {
        self.key = key.publicKey
        self.namespace = namespace
        algorithm = "sha512"
        signature = try key.signature(
            of: Self.signed(namespace: namespace, algorithm: algorithm, digest: Array(SHA512.hash(data: message))))
    }

    /// Parses an armored signature.
    /// - Returns: `nil` if the text is not a signature by an Ed25519 key.
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

    /// The text of the signature's file.
    package var armored: String {
        let bytes =
            Array(Self.magic.utf8) + SSHWriter.number(Self.version) + SSHWriter.string(key.blob)
            + SSHWriter.string(namespace) + SSHWriter.string("") + SSHWriter.string(algorithm)
            + SSHWriter.string(SSHWriter.string(SignerKey.algorithm) + SSHWriter.string(signature))
        return Armor.encode(bytes, label: Self.label)
    }

    /// Whether this is a signature of a message by `key`. `AllowedSigners` determines whose key that is.
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

    /// Returns the bytes that the key signs. They include the namespace and the digest, so that the signature cannot be used for another purpose.
    private static func signed(namespace: String, algorithm: String, digest: [UInt8]) -> [UInt8] {
        Array(magic.utf8) + SSHWriter.string(namespace) + SSHWriter.string("") + SSHWriter.string(algorithm)
            + SSHWriter.string(digest)
    }
}
