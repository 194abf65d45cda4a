import Basics
import Glibc

/// An open file beneath a directory of the operator's, and what it was when it was opened.
final class RecordedFile: Sendable {
    let file: OpenFile
    let status: FileStatus
    private let root: String
    private let path: String

    /// Blocks.
    /// - Throws: `ESTALE` when it is exchanged just then.
    init(_ path: String, beneath root: String) throws(FileError) {
        // Whose bytes are judged by their digest, and which no job reaches.
        let directory = try Directory(opening: root, readsSecondNames: true)
        let before = try directory.status(path)
        file = OpenFile(descriptor: try directory.openForReading(path))
        guard let status = try directory.status(path) else {
            throw FileError(operation: "open", path: path, errno: ENOENT)
        }
        guard status == before else { throw FileError(operation: "open", path: path, errno: ESTALE) }
        self.status = status
        self.root = root
        self.path = path
    }

    /// Whether it is still what lies there, as far as stat(2) tells. Blocks.
    var isUnchanged: Bool {
        let now: FileStatus?? = try? Directory(opening: root).status(path)
        return now == .some(.some(status))
    }
}
