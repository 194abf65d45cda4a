package import Archives
import Crypto
import FoundationEssentials

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

/// Base64 between a first and a last line, as OpenSSH writes keys and signatures.
enum Armor {
    /// The number of characters in a line, as in files of `ssh-keygen`.
    private static let width = 70

    static func encode(_ bytes: [UInt8], label: String) -> String {
        let base64 = Array(Data(bytes).base64EncodedString().utf8)
        let lines = stride(from: 0, to: base64.count, by: width).map { start in
            String(decoding: base64[start..<min(start + width, base64.count)], as: UTF8.self)
        }
        return (["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----"]).joined(separator: "\n") + "\n"
    }

    /// Decodes an armored text.
    /// - Returns: `nil` if the text does not have this form from the first to the last line.
    static func decode(_ text: String, label: String) -> [UInt8]? {
        var lines = text.split(whereSeparator: \.isNewline).map(String.init)
        guard lines.count >= 3, lines.removeFirst() == "-----BEGIN \(label)-----",
            lines.removeLast() == "-----END \(label)-----"
        else { return nil }
        return Data(base64Encoded: lines.joined()).map(Array.init)
    }
}

/// A reader of SSH's data types (RFC 4251, section 5): numbers in big-endian order, and strings after their length.
struct SSHReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }
    /// The bytes that are not read yet.
    var remaining: [UInt8] { Array(rest) }

    /// Returns the next bytes; `nil` if there are fewer.
    mutating func take(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func number() -> UInt32? { take(4)?.reduce(0) { $0 << 8 | UInt32($1) } }

    mutating func string() -> [UInt8]? {
        guard let count = number() else { return nil }
        return take(Int(count))
    }

    /// Reads a string, and returns whether it equals a text.
    mutating func expect(_ text: String) -> Bool { string().map { $0.elementsEqual(text.utf8) } ?? false }
}

/// A writer of SSH's data types.
enum SSHWriter {
    static func number(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }

    static func string(_ bytes: [UInt8]) -> [UInt8] { number(UInt32(bytes.count)) + bytes }

    static func string(_ text: String) -> [UInt8] { string(Array(text.utf8)) }
}
