import Basics
import Encodings

/// The file `SHA256SUMS` in the format of `sha256sum` of coreutils: digest, two spaces, name, newline.
package struct Checksums: Hashable, Sendable {
    /// The size limit of the file in bytes, for about a hundred thousand names.
    package static let maximumSize = 32 << 20

    /// The digests in lower-case hexadecimal, keyed by name.
    package var digests: [String: String]

    package init(_ digests: [String: String]) { self.digests = digests }

    /// Parses the file. Names must be plain (`PublishedName.isComponent`), so that checking them cannot lead elsewhere. Escaped names (with a leading
    /// backslash) are refused.
    /// - Returns: `nil` if the bytes are not such a file.
    package init?(_ bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        digests = [:]
        for line in text.split(separator: "\n") {
            // The second character after the digest is a space for text and an asterisk for binary files, which makes no difference here. Bytes are
            // compared, because a space and a combining mark at the name's beginning are one character in Swift.
            let digest = String(decoding: line.utf8.prefix(64), as: UTF8.self)
            guard line.utf8.count > 66, Hexadecimal.decode(digest) != nil else { return nil }
            let rest = Array(line.utf8.dropFirst(64))
            guard rest.starts(with: "  ".utf8) || rest.starts(with: " *".utf8) else { return nil }
            let name = String(decoding: rest.dropFirst(2), as: UTF8.self)
            guard PublishedName.isComponent(name), digests[name] == nil else { return nil }
            digests[name] = digest.lowercased()
        }
    }

    /// The file's content, sorted by the bytes of the names.
    package var bytes: [UInt8] {
        let names = digests.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return names.flatMap { Array("\(digests[$0] ?? "")  \($0)\n".utf8) }
    }
}
