import CLibGit2
import Glibc
package import Model

extension Mirror {
    /// Reads a commit's tree.
    /// - Parameter body: Gets the tree, which is valid only until it returns.
    /// - Throws: `commitMissing` when the commit is not here; what `body` throws.
    package func read<Value: Sendable>(
        treeOf commit: CommitID, _ body: @escaping @Sendable (CommitTree) throws(SourceControlError) -> Value
    ) async throws(SourceControlError) -> Value {
        try await local { repository throws(SourceControlError) in
            let reading = CommitReading(repository: repository, operation: "reading the tree of \(commit.abbreviated)")
            return try body(CommitTree(reading: reading, commit: commit))
        }
    }
}

/// The files of a commit in a mirror. No link is followed.
package struct CommitTree {
    let reading: CommitReading
    let commit: CommitID

    /// The names in a directory, of which `.` is the root; `nil` if there is no such directory. Names that are not UTF-8 are repaired.
    package func names(in directory: String) throws(SourceControlError) -> [String]? {
        guard directory == "." else { return try reading.names(in: directory, at: commit) }
        return CommitReading.entries(of: try reading.rootTree(of: commit)).map {
            String(decoding: $0.name, as: UTF8.self)
        }
    }

    /// The bytes of a regular file; `nil` if there is none, or it has more than `limit` bytes.
    package func file(_ path: String, limit: Int) throws(SourceControlError) -> [UInt8]? {
        do throws(SourceControlError) {
            return try reading.file(path, at: commit, limit: limit)
        } catch {
            guard error.code == .tooLarge else { throw error }
            return nil
        }
    }

    /// Whether a regular file has one of these name endings. Directories whose names begin with a dot are passed over.
    /// - Parameter limit: A tree with more entries counts as having one.
    package func hasFile(endingWith endings: [String], limit: Int) throws(SourceControlError) -> Bool {
        var pending = [CommitReading.id(of: try reading.rootTree(of: commit))]
        var count = 0
        while let id = pending.popLast() {
            for entry in CommitReading.entries(of: try reading.tree(id)) {
                count += 1
                guard count <= limit else { return true }
                let kind = entry.mode & S_IFMT
                if kind == S_IFDIR, entry.name.first != UInt8(ascii: ".") { pending.append(entry.id) }
                let name = String(decoding: entry.name, as: UTF8.self)
                if kind == S_IFREG, endings.contains(where: name.hasSuffix) { return true }
            }
        }
        return false
    }
}
