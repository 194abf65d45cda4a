import Basics
import Glibc
package import Model

extension Mirror {
    /// Writes the tracked files of a commit as `export` does, for a program that reads them and is not the repository's.
    ///
    /// A commit could make such a program do more than that, so two kinds of files differ from the commit's:
    /// - A link that leads out of the directory, directly or through another link, or nowhere, is left out. `VERSION` could be a link to a secret.
    /// - The root and each directory with a `HEAD` get a `.git` that leads nowhere, which ends git's search for a repository there. To git, a
    /// directory with `HEAD`, `objects` and `refs` is a bare repository, and its `config` names programs that git starts.
    /// - Returns: The links that were left out, relative to the directory.
    /// - Throws: The errors of `export`.
    package func exportForScript(_ commit: CommitID, into directory: String) async throws(SourceControlError)
        -> [String]
    {
        try await export(commit, into: directory)
        let operation = "export of \(commit.abbreviated) into \(directory)"
        return try await queue.run { () throws(SourceControlError) in
            try files(operation) { () throws(FileError) in try ScriptSource(opening: directory).seal() }
        }
    }
}

/// A directory with a commit's files, for programs that are not the repository's.
struct ScriptSource {
    /// The content of a `.git`: /dev/null contains nothing on any machine.
    static let noRepository = Array("gitdir: /dev/null/these-files-are-no-repository\n".utf8)
    /// More files than a tree may have (`TreeListing`).
    private static let limit = 10_000_000
    private static let slash = UInt8(ascii: "/")

    private let directory: Directory
    /// The directory's path, with all links resolved.
    private let root: [UInt8]

    init(opening path: String) throws(FileError) {
        directory = try Directory(opening: path)
        guard let resolved = Self.resolve(Array(path.utf8)) else {
            throw FileError(operation: "resolve", path: path, errno: errno)
        }
        root = resolved
    }

    /// - Returns: The links that were removed.
    func seal() throws(FileError) -> [String] {
        let (links, places) = try find()
        var removed: [String] = []
        for link in links where try !staysInside(link) {
            try directory.remove(link)
            removed.append(String(decoding: link, as: UTF8.self))
        }
        for place in places { _ = try directory.create(place + ".git".utf8, bytes: Self.noRepository, mode: 0o444) }
        return removed
    }

    /// Finds the links, and the directories that need a `.git`: each with a slash at its end, except the root.
    private func find() throws(FileError) -> (links: [[UInt8]], places: Set<[UInt8]>) {
        var links: [[UInt8]] = []
        var places: Set<[UInt8]> = [[]]
        do {
            try directory.walk(limit: Self.limit) { path, status in
                if status.kind == .link { links.append(path) }
                let parent = path.lastIndex(of: Self.slash).map { path[...$0] } ?? []
                if path.dropFirst(parent.count).elementsEqual("HEAD".utf8) { places.insert(Array(parent)) }
            }
        } catch let error as FileError {
            throw error
        } catch {
            throw FileError(code: .other, operation: "walk", path: directory.path, message: "\(error)")
        }
        return (links, places)
    }

    /// Whether a link stays in the directory, by its text as well: a copy of the files has the same links.
    private func staysInside(_ link: [UInt8]) throws(FileError) -> Bool {
        let target = try directory.linkTarget(link)
        guard target.first != Self.slash else { return false }
        var depth = link.count { $0 == Self.slash }
        for component in target.split(separator: Self.slash) where !component.elementsEqual(".".utf8) {
            depth += component.elementsEqual("..".utf8) ? -1 : 1
            if depth < 0 { return false }
        }
        // Through another link the same components can lead further up.
        guard let end = Self.resolve(root + [Self.slash] + link) else { return false }
        return end == root || end.starts(with: root + [Self.slash])
    }

    private static func resolve(_ path: [UInt8]) -> [UInt8]? {
        let resolved = (path + [0]).withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { realpath($0.baseAddress, nil) }
        }
        guard let resolved else { return nil }
        defer { free(resolved) }
        return resolved.withMemoryRebound(to: UInt8.self, capacity: strlen(resolved)) {
            Array(UnsafeBufferPointer(start: $0, count: strlen(resolved)))
        }
    }
}
