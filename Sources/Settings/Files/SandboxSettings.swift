import Glibc
package import Model

/// The paths that a job's sandbox shows besides the usual ones, and a job's resource limits. The default values are documented in
/// docs/reference/settings.md.
package struct SandboxSettings: Hashable, Sendable {
    /// Absolute paths that every job sees, read-only, at the same place.
    package var readOnly: [String]
    /// The most memory of all processes of a job together.
    package var memory: ByteCount
    /// The most processes of a job at one time.
    package var processes: Int
    /// The most bytes that a workspace may have at the end of a step.
    package var workspace: ByteCount
    /// A job's weight for processor time when the machine is busy; everything else has 100. `nil`: the same weight.
    package var cpuWeight: Int?
    /// Whether steps with network access reach servers on the machine's loopback interface; `nil`: only if there is no other network.
    package var loopback: Bool?

    /// The default limit of processes. A build with a compiler per processor has about fifty; a fork bomb is stopped by the limit.
    package static let usualProcesses = 512
    /// The default limit of a workspace: ten times the largest warm workspace of the measured packages.
    package static let usualWorkspace = ByteCount.gibibytes(20)

    /// The default limit of memory: three quarters of the machine's, in whole gibibytes if there are at least two. A job then ends before the machine
    /// is out of memory, which would affect all processes.
    package static let usualMemory: ByteCount = {
        let (pages, size) = (Int64(sysconf(Int32(_SC_PHYS_PAGES))), Int64(sysconf(Int32(_SC_PAGESIZE))))
        let bytes = max(0, pages) * max(0, size) / 4 * 3
        return max(.mebibytes(64), bytes >= 2 << 30 ? .gibibytes(bytes >> 30) : .mebibytes(bytes >> 20))
    }()

    package init(
        readOnly: [String] = [], memory: ByteCount = usualMemory, processes: Int = usualProcesses,
        workspace: ByteCount = usualWorkspace, cpuWeight: Int? = nil, loopback: Bool? = nil
    ) {
        self.readOnly = readOnly
        self.memory = memory
        self.processes = processes
        self.workspace = workspace
        self.cpuWeight = cpuWeight
        self.loopback = loopback
    }
}
