import Glibc
package import Model

/// What a job's fence holds besides the usual, and how much a job may take of the machine. The numbers say what is
/// documented in docs/manual.md, "The fence".
package struct FenceSettings: Hashable, Sendable {
    /// Absolute paths that every job sees, read-only, at the same place.
    package var readOnly: [String]
    /// Of all processes of a job together.
    package var memory: ByteCount
    /// At one time.
    package var processes: Int
    /// What a workspace may hold at the end of a step.
    package var workspace: ByteCount
    /// A job's share of the processors where it is not alone, beside 100 of everybody else's; nothing: the same.
    package var cpuWeight: Int?
    /// Whether steps that have the network reach what listens on the machine's loopback; nothing: only where there is no other network.
    package var loopback: Bool?

    /// A build with a compiler per processor has about fifty processes; a fork bomb stops here.
    package static let usualProcesses = 512
    /// Ten times the largest warm workspace of the packages that were measured.
    package static let usualWorkspace = ByteCount.gibibytes(20)

    /// Three quarters of the machine's, in whole gibibytes where it has as many: one job ends before the machine is out of memory, which
    /// would be everybody's.
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
