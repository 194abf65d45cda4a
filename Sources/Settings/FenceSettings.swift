package import Model

/// What a job's fence holds besides the usual, and how much a job may take of the machine. The numbers say what is
/// documented in docs/manual.md, "The fence".
package struct FenceSettings: Hashable, Sendable {
    /// Absolute paths that every job sees, read-only, at the same place.
    package var readOnly: [String]
    /// Of all processes of a job together; nothing: no limit.
    package var memory: ByteCount?
    /// At one time.
    package var processes: Int
    /// What a workspace may hold at the end of a step.
    package var workspace: ByteCount

    /// A build with a compiler per processor has about fifty processes; a fork bomb stops here.
    package static let usualProcesses = 512
    /// Ten times the largest warm workspace of the packages that were measured.
    package static let usualWorkspace = ByteCount.gibibytes(20)

    package init(
        readOnly: [String] = [], memory: ByteCount? = nil, processes: Int = usualProcesses,
        workspace: ByteCount = usualWorkspace
    ) {
        self.readOnly = readOnly
        self.memory = memory
        self.processes = processes
        self.workspace = workspace
    }
}
