import CLinux
import Glibc

/// A lock on a file. It is held as long as this object lives, and is released when the process ends in any way.
package final class FileLock: Sendable {
    private let file: Descriptor
    package let path: String

    /// Acquires the lock without waiting, then writes `contents`, which identifies the holder.
    ///
    /// The lock is that of flock(2), which belongs to the open file, so another lock in the same process is excluded, too.
    /// - Parameters:
    ///   - path: The file. It is created with mode 0644 if it does not exist. It is never removed, because two processes could then hold the lock.
    ///   - contents: Replaces the file's content.
    /// - Returns: `nil` if another holder has the lock.
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
