import CLinux
import Glibc
import JobProtocol

/// The open files of processes, according to their descriptors in /proc.
enum OpenFiles {
    /// The most descriptors that are examined.
    private static let limit = 100_000

    /// Visits the open files of processes.
    /// - Parameters:
    ///   - isOurs: Returns whether a process that cannot be read is a helper of the supervisor, which may be skipped.
    ///   - visit: Gets the status of the file behind each descriptor. A file occurs as often as it is open.
    /// - Returns: Whether all were visited. False if there were too many, or a living process that is not a helper could not be read.
    static func visit(
        of processes: [ProcessTable.Entry], isOurs: (Int32) -> Bool = { _ in false }, _ visit: (stat) -> Void
    ) -> Bool {
        var (count, isWhole) = (0, true)
        for process in processes where process.isAlive {
            let directory = "/proc/\(process.pid)/fd"
            guard case .success(let tree) = Tree.open(directory) else {
                // A process that has ended meanwhile has no descriptors.
                if errno == EACCES || errno == EPERM, !isOurs(process.pid) { isWhole = false }
                continue
            }
            for name in Tree.names(in: tree.descriptor) {
                count += 1
                guard count <= limit else { return false }
                var status = stat()
                if stat(directory + "/" + name, &status) == 0 { visit(status) }
            }
        }
        return isWhole
    }

    /// Returns whether a process holds the sandbox: bubblewrap, which is in the supervisor's process namespace, or the sandbox's first process. These
    /// have no file of the job open, and are not dumpable either (proc_pid_status(5), NSpid). No process inside can create such a namespace.
    static func holdsSandbox(_ process: Int32) -> Bool {
        guard let numbers = Self.numbers(of: "\(process)"), let own = Self.numbers(of: "self") else { return false }
        return numbers.count == own.count || numbers.last == "1"
    }

    /// Returns the numbers of a process in each of its process namespaces; `nil` if they cannot be read.
    private static func numbers(of process: String) -> [String]? {
        let text = String(decoding: SmallFile.read("/proc/\(process)/status", limit: 16 * 1024) ?? [], as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("NSpid:") }
        return line?.split(separator: "\t").dropFirst().map(String.init)
    }
}

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
