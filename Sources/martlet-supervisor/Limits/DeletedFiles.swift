import Glibc
import JobProtocol

/// Deleted files that still occupy disk space, because a process of the job has them open.
enum DeletedFiles {
    /// Returns the disk use of the deleted files that descendants of this process have open. Files that are mapped but closed are not found.
    /// - Parameters:
    ///   - device: The device of the file system.
    ///   - sparing: Helper processes to leave out, with their descendants.
    ///   - isSandboxed: Whether the step is sandboxed.
    /// - Returns: The bytes, and whether the sum is complete. A process that is not dumpable hides its files (prctl(2), PR_SET_DUMPABLE).
    static func bytes(on device: dev_t, sparing: Set<Int32>, isSandboxed: Bool) -> (bytes: Int64, isWhole: Bool) {
        var found: [ino_t: Int64] = [:]
        let isWhole = OpenFiles.visit(
            of: ProcessTable.descendants(of: getpid(), except: sparing),
            isOurs: { isSandboxed && OpenFiles.holdsSandbox($0) }
        ) { status in
            guard status.st_nlink == 0, status.st_dev == device, status.st_mode & S_IFMT == S_IFREG else { return }
            found[status.st_ino] = Int64(status.st_blocks) * 512
        }
        return (found.values.reduce(0, +), isWhole)
    }
}
