import Glibc
import JobProtocol

/// Files that have no name any more and still take room, since a process of the job has them open.
enum DeletedFiles {
    /// Of all processes that come from this one. What they have mapped and closed is not found.
    /// - Parameters:
    ///   - device: The file system's.
    ///   - sparing: Processes of ours, and what comes from them.
    /// - Returns: Also whether that is all: a process that is not dumpable shows nothing (prctl(2), PR_SET_DUMPABLE).
    static func bytes(on device: dev_t, sparing: Set<Int32>, isFenced: Bool) -> (bytes: Int64, isWhole: Bool) {
        var found: [ino_t: Int64] = [:]
        let isWhole = OpenFiles.visit(
            of: ProcessTable.descendants(of: getpid(), except: sparing),
            isOurs: { isFenced && OpenFiles.holdsFence($0) }
        ) { status in
            guard status.st_nlink == 0, status.st_dev == device, status.st_mode & S_IFMT == S_IFREG else { return }
            found[status.st_ino] = Int64(status.st_blocks) * 512
        }
        return (found.values.reduce(0, +), isWhole)
    }
}
