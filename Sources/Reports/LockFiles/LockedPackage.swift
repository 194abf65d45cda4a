/// A package that a lock file pins, as in-toto's resource descriptor has it.
package struct LockedPackage: Hashable, Sendable {
    /// A package URL (package-url/purl-spec), or where a repository is had.
    package var uri: String
    /// By the names of in-toto's DigestSet, lower-case hexadecimal.
    package var digest: [String: String]
    /// As the package manager calls it: a package URL has some names in lower case.
    package var name: String

    init(uri: String, digest: [String: String], name: String) {
        self.uri = uri
        self.digest = digest
        self.name = name
    }

    /// Longest name, version or file name, in bytes; npm's names have 214 at most (package.json, "name").
    static let maximumLength = 300

    /// A kind of package URL.
    enum Kind: String {
        case npm, cargo, golang, pypi, gem, composer

        /// What purl-spec's types say of the case of names.
        var isLowercased: Bool { self != .cargo && self != .gem }
        /// Whether a `/` of a name ends a part of its namespace.
        var hasNamespace: Bool { self == .npm || self == .golang || self == .composer }
    }

    /// - Parameter qualifier: Such as `filename`, and its value.
    /// - Returns: `nil` without a digest, and for an impossible name or version. Neither contains a colon: aliases and addresses do, and an address
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
        PercentEncoding.encode(String(part)).split(separator: "/", omittingEmptySubsequences: false)
            .joined(separator: "%2F")
    }
}

/// Digests as lock files write them, and as in-toto's DigestSet has them (in-toto/attestation, spec/v1/digest_set.md).
enum LockedDigest {
    private static let lengths = ["sha1": 20, "sha256": 32, "sha384": 48, "sha512": 64, "md5": 16]

    /// W3C's Subresource Integrity, 3.5: `sha512-BASE64 sha1-BASE64`; the first of each algorithm.
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

    /// `sha256:HEX` or `sha256=HEX`.
    static func named(_ text: some StringProtocol) -> [String: String] {
        guard let mark = text.firstIndex(where: { $0 == ":" || $0 == "=" }) else { return [:] }
        return hexadecimal(text[text.index(after: mark)...], algorithm: String(text[..<mark]))
    }

    /// `nil` unless it has exactly the digits of the algorithm's digests.
    static func hexadecimal(_ text: some StringProtocol, algorithm: String) -> [String: String] {
        guard let length = lengths[algorithm], text.utf8.count == 2 * length, text.utf8.allSatisfy(isDigit) else {
            return [:]
        }
        return [algorithm: text.lowercased()]
    }

    /// A commit that git names, of SHA-1 or SHA-256.
    static func commit(_ text: String) -> [String: String] {
        guard [40, 64].contains(text.utf8.count), text.utf8.allSatisfy(isDigit) else { return [:] }
        return ["gitCommit": text.lowercased()]
    }

    /// Go's `h1:BASE64` (golang.org/x/mod/sumdb/dirhash, Hash1), which in-toto has without the prefix and as `dirHash`.
    static func directory(_ text: some StringProtocol) -> [String: String] {
        guard text.hasPrefix("h1:") else { return [:] }
        return base64(String(text.dropFirst(3)), length: 32).map { ["dirHash": $0] } ?? [:]
    }

    private static func base64(_ text: String, length: Int) -> String? {
        guard let bytes = Base64.decode(text), bytes.count == length else { return nil }
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
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
