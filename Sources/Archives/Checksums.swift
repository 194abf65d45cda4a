import Basics

/// `SHA256SUMS`, as coreutils' `sha256sum` writes it and `sha256sum -c` reads it: digest, two spaces, name, newline.
package struct Checksums: Hashable, Sendable {
    /// Largest file read: about a hundred thousand names.
    package static let maximumSize = 32 << 20

    /// Digests in lower-case hexadecimal by name.
    package var digests: [String: String]

    package init(_ digests: [String: String]) { self.digests = digests }

    /// Reads a file of this form. Names must be plain (`PublishedName.isComponent`), so that checking leads nowhere else;
    /// escaped names (a leading backslash) are not.
    package init?(_ bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        digests = [:]
        for line in text.split(separator: "\n") {
            // The second character after the digest is a space for text and an asterisk for binary; both mean the same here.
            // By bytes: to Swift a space and a mark at the name's beginning are one character.
            let digest = String(decoding: line.utf8.prefix(64), as: UTF8.self)
            guard line.utf8.count > 66, Hexadecimal.decode(digest) != nil else { return nil }
            let rest = Array(line.utf8.dropFirst(64))
            guard rest.starts(with: "  ".utf8) || rest.starts(with: " *".utf8) else { return nil }
            let name = String(decoding: rest.dropFirst(2), as: UTF8.self)
            guard PublishedName.isComponent(name), digests[name] == nil else { return nil }
            digests[name] = digest.lowercased()
        }
    }

    /// The file's bytes, sorted by the bytes of the names.
    package var bytes: [UInt8] {
        let names = digests.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return names.flatMap { Array("\(digests[$0] ?? "")  \($0)\n".utf8) }
    }
}
