import CLinux
import Glibc
import JobProtocol

/// The files that processes have open, by what /proc shows of their descriptors.
enum OpenFiles {
    /// The most descriptors that are looked at.
    private static let limit = 100_000

    /// - Parameter visit: Gets what each descriptor leads to; a file comes as often as it is open.
    /// - Returns: Whether all were seen: there were not too many, and into no process that lives and that `isOurs` denies was no look.
    static func visit(
        of processes: [ProcessTable.Entry], isOurs: (Int32) -> Bool = { _ in false }, _ visit: (stat) -> Void
    ) -> Bool {
        var (count, isWhole) = (0, true)
        for process in processes where process.isAlive {
            let directory = "/proc/\(process.pid)/fd"
            guard case .success(let tree) = Tree.open(directory) else {
                // What has ended meanwhile has none.
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

    /// Whether a process is one that holds a fence, which has none of the job's files open and is not dumpable either: bubblewrap, which is in no
    /// process namespace beneath ours, or the fence's first (proc_pid_status(5), NSpid). Nobody within makes such a namespace.
    static func holdsFence(_ process: Int32) -> Bool {
        guard let numbers = Self.numbers(of: "\(process)"), let own = Self.numbers(of: "self") else { return false }
        return numbers.count == own.count || numbers.last == "1"
    }

    /// Of a process in each of the process namespaces that it is in.
    private static func numbers(of process: String) -> [String]? {
        let text = String(decoding: SmallFile.read("/proc/\(process)/status", limit: 16 * 1024) ?? [], as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("NSpid:") }
        return line?.split(separator: "\t").dropFirst().map(String.init)
    }
}
