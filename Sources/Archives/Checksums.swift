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

    /// What is wrong with a directory that holds a `SHA256SUMS`. Blocks for the time of reading all files.
    /// - Returns: A line a file that is missing, differs, or is there without a digest (the signature may be); nothing
    ///   when all is right.
    /// - Throws: `notFound` or `corrupted` when there is no `SHA256SUMS` that can be read.
    package static func verify(_ path: String) throws(ArchiveError) -> [String] {
        let operation = "check of \(path)"
        do {
            let directory = try Directory(opening: path, readsSecondNames: true)
            guard try directory.status("SHA256SUMS") != nil else {
                throw ArchiveError(
                    code: .notFound, operation: operation, message: "there is no SHA256SUMS; name a version's directory"
                )
            }
            guard let sums = Checksums(try directory.read("SHA256SUMS", limit: maximumSize)) else {
                throw ArchiveError(code: .corrupted, operation: operation, message: "SHA256SUMS cannot be read")
            }
            var problems: [String] = []
            for (name, expected) in sums.digests.sorted(by: { $0.key < $1.key }) {
                guard try directory.status(name) != nil else {
                    problems.append("\(name): missing")
                    continue
                }
                let found = try Digest.sha256(of: name, in: directory).sha256
                if found != expected { problems.append("\(name): differs: \(found) instead of \(expected)") }
            }
            let known = Set((Array(sums.digests.keys) + ["SHA256SUMS", "SHA256SUMS.sig"]).map { Array($0.utf8) })
            for entry in try directory.entries() where !known.contains(Array(entry.name.utf8)) {
                problems.append("\(entry.name): not in SHA256SUMS")
            }
            return problems
        } catch {
            throw ArchiveError(operation, error)
        }
    }
}
