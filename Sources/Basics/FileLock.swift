import CLinux
import Glibc

/// A lock on a file that is held as long as this object lives, and is gone when the process is, however it ends.
package final class FileLock: Sendable {
    private let file: Descriptor
    package let path: String

    /// Takes the lock and then writes who holds it; nothing when another holds it.
    ///
    /// It is flock(2)'s, which belongs to the open file: another lock of the same process excludes it too.
    /// - Parameters:
    ///   - path: The file, made with mode 0644 when absent and left there afterwards: removing it would let two hold it.
    ///   - contents: Replaces what the file said.
    package init?(path: String, contents: String) throws(FileError) {
        let number = clinux_open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard number >= 0 else { throw FileError(operation: "lock", path: path, errno: errno) }
        let file = Descriptor(number)
        while clinux_flock(number, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return nil }
            guard errno == EINTR else { throw FileError(operation: "lock", path: path, errno: errno) }
        }
        guard ftruncate(number, 0) == 0 else { throw FileError(operation: "lock", path: path, errno: errno) }
        try file.writeAll(Array(contents.utf8), path: path)
        self.file = file
        self.path = path
    }
}
