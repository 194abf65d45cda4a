import CLibGit2
import Glibc
package import Model

extension Mirror {
    /// A regular file of a commit's tree.
    package struct TreeFile: Sendable, Hashable {
        /// From the root; what is not UTF-8 is repaired.
        package let path: String
        /// Its name in that directory.
        package let name: String
        /// Git's id of its bytes: 40 hexadecimal digits.
        package let blob: String
    }

    /// The files of a commit's tree that are called so, in whichever directory; those nearest to the root first, then in the order of
    /// git's trees. Links and submodules are passed over.
    /// - Parameter limit: Of the files that follow it is only told how many there are.
    /// - Returns: `isWhole` is false for a tree of more entries than any that is checked out may have: the rest was not looked at.
    /// - Throws: `commitMissing`.
    package func treeFiles(
        called names: Set<String>, at commit: CommitID, limit: Int
    ) async throws(SourceControlError) -> (files: [TreeFile], count: Int, isWhole: Bool) {
        let wanted = Set(names.map { Array($0.utf8) })
        return try await local { repository throws(SourceControlError) in
            let reading = CommitReading(repository: repository, operation: "reading the tree of \(commit.abbreviated)")
            var found: [TreeFile] = []
            var (count, seen) = (0, 0)
            var level = [(path: "", id: CommitReading.id(of: try reading.rootTree(of: commit)))]
            while !level.isEmpty {
                var next: [(path: String, id: git_oid)] = []
                for directory in level {
                    for entry in CommitReading.entries(of: try reading.tree(directory.id)) {
                        seen += 1
                        guard seen <= TreeListing.maximumEntries else { return (found, count, false) }
                        let isDirectory = entry.mode & S_IFMT == S_IFDIR
                        guard isDirectory || entry.mode & S_IFMT == S_IFREG && wanted.contains(entry.name) else {
                            continue
                        }
                        let name = String(decoding: entry.name, as: UTF8.self)
                        if isDirectory {
                            next.append((directory.path + name + "/", entry.id))
                        } else {
                            count += 1
                            guard found.count < limit else { continue }
                            found.append(
                                TreeFile(path: directory.path + name, name: name, blob: entry.id.hexadecimal))
                        }
                    }
                }
                level = next
            }
            return (found, count, true)
        }
    }

    /// Returns the bytes of such a file; `nil` if it has more than `limit` bytes.
    /// - Throws: `mirrorDamaged` if the mirror does not have it.
    package func bytes(of file: TreeFile, limit: Int) async throws(SourceControlError) -> [UInt8]? {
        try await local { repository throws(SourceControlError) in
            let reading = CommitReading(repository: repository, operation: "reading \(file.path)")
            guard let id = git_oid(hexadecimal: file.blob) else { return nil }
            do throws(SourceControlError) {
                return CommitReading.bytes(of: try reading.blob(id, limit: limit, path: file.path))
            } catch {
                guard error.code == .tooLarge else { throw error }
                return nil
            }
        }
    }
}
