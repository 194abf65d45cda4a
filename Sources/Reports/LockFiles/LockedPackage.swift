import Encodings

/// A package that a lock file pins, in the form of in-toto's resource descriptor.
package struct LockedPackage: Hashable, Sendable {
    /// A package URL (package-url/purl-spec), or the address of a repository.
    package var uri: String
    /// The digests by the names of in-toto's DigestSet, in lowercase hexadecimal.
    package var digest: [String: String]
    /// The name as the package manager writes it. Package URLs have some names in lowercase.
    package var name: String

    init(uri: String, digest: [String: String], name: String) {
        self.uri = uri
        self.digest = digest
        self.name = name
    }

    /// The longest name, version or file name, in bytes. npm's names have at most 214 (package.json, "name").
    static let maximumLength = 300

    /// A type of package URL.
    enum Kind: String {
        case npm, cargo, golang, pypi, gem, composer

        /// Whether names are in lowercase, according to purl-spec's types.
        var isLowercased: Bool { self != .cargo && self != .gem }
        /// Whether a `/` in a name separates parts of its namespace.
        var hasNamespace: Bool { self == .npm || self == .golang || self == .composer }
    }

    /// - Parameter qualifier: A key such as `filename`, and its value.
    /// - Returns: `nil` without a digest, and for an invalid name or version. Neither may contain a colon: aliases and addresses do, and an address
    ///   may contain a password, while a statement is public.
    init?(
        _ kind: Kind, _ name: String, _ version: String, qualifier: (key: String, value: String)? = nil,
        digest: [String: String]
    ) {
        let texts = [name, version] + (qualifier.map { [$0.value] } ?? [])
        guard !digest.isEmpty, texts.allSatisfy(Self.isPlain) else { return nil }
        var inURL = kind.isLowercased ? name.lowercased() : name
        if kind == .pypi { inURL = String(inURL.map { $0 == "_" ? "-" : $0 }) }
        let parts = kind.hasNamespace ? inURL.split(separator: "/", omittingEmptySubsequences: false) : [inURL[...]]
        guard parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        uri = "pkg:\(kind.rawValue)/\(parts.map(Self.encode).joined(separator: "/"))@\(Self.encode(version))"
        if let qualifier { uri += "?\(qualifier.key)=\(Self.encode(qualifier.value))" }
        self.digest = digest
        self.name = name
    }

    private static func isPlain(_ text: String) -> Bool {
        (1...maximumLength).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ":") }
    }

    private static func encode(_ part: some StringProtocol) -> String {
        PercentEncoding.encode(path: String(part)).split(separator: "/", omittingEmptySubsequences: false)
            .joined(separator: "%2F")
    }
}

/// A converter of lock files' digests to in-toto's DigestSet (in-toto/attestation, spec/v1/digest_set.md).
enum LockedDigest {
    private static let lengths = ["sha1": 20, "sha256": 32, "sha384": 48, "sha512": 64, "md5": 16]

    /// Reads W3C's Subresource Integrity, 3.5: `sha512-BASE64 sha1-BASE64`. Returns the first digest of each algorithm.
    static func integrity(_ text: some StringProtocol) -> [String: String] {
        var found: [String: String] = [:]
        for word in text.split(whereSeparator: \.isWhitespace) {
            guard let dash = word.firstIndex(of: "-") else { continue }
            let (name, rest) = (String(word[..<dash]), word[word.index(after: dash)...])
            guard found[name] == nil, let length = lengths[name] else { continue }
            found[name] = base64(String(rest.prefix { $0 != "?" }), length: length)
        }
        return found
    }

    /// Reads `sha256:HEX` or `sha256=HEX`; empty for other text.
    static func named(_ text: some StringProtocol) -> [String: String] {
        guard let mark = text.firstIndex(where: { $0 == ":" || $0 == "=" }) else { return [:] }
        return hexadecimal(text[text.index(after: mark)...], algorithm: String(text[..<mark]))
    }

    /// Reads a hexadecimal digest; empty unless it has exactly the digits of the algorithm's digests.
    static func hexadecimal(_ text: some StringProtocol, algorithm: String) -> [String: String] {
        guard let length = lengths[algorithm], text.utf8.count == 2 * length, text.utf8.allSatisfy(isDigit) else {
            return [:]
        }
        return [algorithm: text.lowercased()]
    }

    /// Reads a git commit's id, of SHA-1 or SHA-256; empty for other text.
    static func commit(_ text: String) -> [String: String] {
        guard [40, 64].contains(text.utf8.count), text.utf8.allSatisfy(isDigit) else { return [:] }
        return ["gitCommit": text.lowercased()]
    }

    /// Reads Go's `h1:BASE64` (golang.org/x/mod/sumdb/dirhash, Hash1), which in-toto has without the prefix and as `dirHash`. Empty for other text.
    static func directory(_ text: some StringProtocol) -> [String: String] {
        guard text.hasPrefix("h1:") else { return [:] }
        return base64(String(text.dropFirst(3)), length: 32).map { ["dirHash": $0] } ?? [:]
    }

    private static func base64(_ text: String, length: Int) -> String? {
        guard let bytes = Base64.decode(text), bytes.count == length else { return nil }
        return Hexadecimal.encode(bytes)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
