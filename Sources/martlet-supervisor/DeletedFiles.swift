import Glibc
import JobProtocol

/// Files that have no name any more and still take room, since a process of the job has them open.
enum DeletedFiles {
    /// The most descriptors that are looked at.
    private static let limit = 100_000

    /// Of all processes that come from this one. What they have mapped and closed is not found.
    /// - Parameter device: The file system's.
    static func bytes(on device: dev_t) -> Int64 {
        var found: [ino_t: Int64] = [:]
        var count = 0
        for process in ProcessTable.descendants(of: getpid()) where process.isAlive {
            let directory = "/proc/\(process.pid)/fd"
            for name in Tree.names(in: directory) {
                count += 1
                var status = stat()
                guard count <= limit, stat(directory + "/" + name, &status) == 0 else { continue }
                guard status.st_nlink == 0, status.st_dev == device, status.st_mode & S_IFMT == S_IFREG else {
                    continue
                }
                found[status.st_ino] = Int64(status.st_blocks) * 512
            }
        }
        return found.values.reduce(0, +)
    }
}
