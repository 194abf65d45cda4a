import Basics
import Glibc

/// An open file in a directory of the operator, and its status when it was opened.
final class RecordedFile: Sendable {
    let file: OpenFile
    let status: FileStatus
    private let root: String
    private let path: String

    /// Opens a file. Blocks.
    /// - Throws: `ESTALE` if the file is replaced while it is being opened.
    init(_ path: String, beneath root: String) throws(FileError) {
        // Files with more than one hard link are accepted: the bytes are verified by their digest, and no job can write here.
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

    /// Whether the path still has the same file, according to stat(2). Blocks.
    var isUnchanged: Bool {
        let now: FileStatus?? = try? Directory(opening: root).status(path)
        return now == .some(.some(status))
    }
}
