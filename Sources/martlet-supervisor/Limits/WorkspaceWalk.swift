import CLinux
import Glibc

/// A walk through trees that a job may be changing, in any number of parts. It needs little memory: for each level it keeps only a descriptor and a
/// position.
final class WorkspaceWalk {
    private struct Level {
        let descriptor: Int32
        /// The position at which reading continues, as getdents64(2) returns it.
        var place: Int64 = 0
    }

    /// The disk use in bytes, from the file system's blocks of 512 bytes. A file with several names is counted once, divided among its names.
    private(set) var bytes: Int64 = 0
    /// The number of entries of all kinds: files, directories, links and others.
    private(set) var files: Int64 = 0
    private(set) var isComplete = false
    private(set) var isTooDeep = false
    /// Whether a directory could not be read.
    private(set) var hasHidden = false
    /// The processor time of the walk, in milliseconds.
    private(set) var cost: Int64 = 0
    /// The trees that are still to be walked through, the next one last.
    private var trees: [Tree]
    private var levels: [Level] = []
    private var buffer = [UInt8](repeating: 0, count: 4096)

    init(_ trees: [Tree]) {
        self.trees = trees.reversed()
        enterNextTree()
    }

    private func enterNextTree() {
        while levels.isEmpty, let tree = trees.popLast() {
            if case .success(let descriptor) = tree.open([], O_RDONLY | O_DIRECTORY) {
                levels = [Level(descriptor: descriptor)]
            } else {
                hasHidden = true
            }
        }
    }

    deinit { for level in levels { close(level.descriptor) } }

    /// Continues the walk.
    /// - Parameter deadline: The time to stop, in milliseconds of the monotonic clock.
    func go(until deadline: Int64) {
        let begun = Time.workedMilliseconds()
        var now = Time.monotonicMilliseconds()
        while let level = levels.last, now < deadline {
            readSome(of: level)
            now = Time.monotonicMilliseconds()
        }
        isComplete = levels.isEmpty
        cost += Time.workedMilliseconds() - begun
    }

    /// Reads a buffer of entries, but only up to the first directory among them, which becomes the last level.
    private func readSome(of level: Level) {
        lseek(level.descriptor, Int(level.place), SEEK_SET)
        let count = buffer.withUnsafeMutableBytes { clinux_getdents(level.descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else {
            if count < 0 { hasHidden = true }
            close(level.descriptor)
            levels.removeLast()
            enterNextTree()
            return
        }
        var start = 0
        while start < count {
            // struct linux_dirent64 has 8 bytes inode, 8 bytes next position, 2 bytes length, 1 byte type, then the name (getdents(2)).
            let place = buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start + 8, as: Int64.self) }
            let length = Int(buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start + 16, as: UInt16.self) })
            let isEntered = enter(at: start + 19, length: length - 19, in: level.descriptor, next: place)
            if isEntered { return }
            start += length
            levels[levels.count - 1].place = place
        }
    }

    /// Counts an entry.
    /// - Returns: Whether the entry is a directory that is now the last level.
    private func enter(at start: Int, length: Int, in directory: Int32, next place: Int64) -> Bool {
        buffer.withUnsafeBytes { bytes in
            // The name ends with a NUL within the entry.
            guard let name = bytes.baseAddress?.advanced(by: start).assumingMemoryBound(to: CChar.self) else {
                return false
            }
            if name[0] == 0x2E, name[1] == 0 || name[1] == 0x2E && name[2] == 0 { return false }
            var status = stat()
            guard fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
            files += 1
            let isDirectory = status.st_mode & S_IFMT == S_IFDIR
            count(status, isDirectory)
            guard isDirectory else { return false }
            guard levels.count < WorkspaceWatch.levelLimit else {
                isTooDeep = true
                return false
            }
            let inner = clinux_openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
            guard inner >= 0 else {
                if errno != ENOENT { hasHidden = true }
                return false
            }
            levels[levels.count - 1].place = place
            levels.append(Level(descriptor: inner))
            return true
        }
    }

    private func count(_ status: stat, _ isDirectory: Bool) {
        let names = isDirectory ? 1 : max(1, Int64(status.st_nlink))
        bytes += Int64(status.st_blocks) * 512 / names
    }
}
