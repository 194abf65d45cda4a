extension JobDescription {
    /// What a job may use, what it may leave and how long it may take to end. Those of memory, processes, processor and
    /// workspace hold with any isolation; by what means is in docs/decisions/0007-the-fence.md.
    package struct Limits: Sendable, Equatable {
        /// Of the log. A step that prints more is ended; its limit says `log over 64 MiB`.
        package var logBytes: Int64
        /// Of all artifacts together.
        package var fileBytes: Int64
        /// The number of artifacts, and of reports.
        package var files: Int
        /// Of all reports together.
        package var reportBytes: Int64
        /// Between SIGTERM and SIGKILL.
        package var graceMilliseconds: Int64
        /// Of all processes of a step together, with what they write to /tmp and to their home in a fence; nothing: as much
        /// as the machine has. Held only where the supervisor has a control group: a step that needs more is ended, and its
        /// limit says `out of memory at 2 GiB`. No swap is given.
        package var memoryBytes: Int64?
        /// Of a step, threads counted, at one time. Beyond it fork fails and the step is ended: `processes over 512`.
        package var processes: Int
        /// The share of the processor among jobs that want it at one time, 1 to 10,000 (cgroup-v2, cpu.weight); nothing: 100.
        package var cpuWeight: Int?
        /// Of everything in the workspace, as its file system counts it. A step that writes more is ended soon after:
        /// `workspace over 20 GiB`. No single file can be larger, wherever it is: `one file over 20 GiB`.
        package var workspaceBytes: Int64
        /// Of files, directories and links in the workspace: `workspace over 2,000,000 files`.
        package var workspaceFiles: Int

        /// Defaults. Why 20 GiB and 2,000,000 files: ten times the build directory of a large package in two configurations
        /// (this one's: 1.6 GiB and 14,000 files with 6.3.1); 512 processes: a linker's or a test run's threads on 64 cores.
        package init(
            logBytes: Int64 = 64 << 20, fileBytes: Int64 = 2 << 30, files: Int = 10_000, reportBytes: Int64 = 64 << 20,
            graceMilliseconds: Int64 = 10_000, memoryBytes: Int64? = nil, processes: Int = 512, cpuWeight: Int? = nil,
            workspaceBytes: Int64 = 20 << 30, workspaceFiles: Int = 2_000_000
        ) {
            self.logBytes = logBytes
            self.fileBytes = fileBytes
            self.files = files
            self.reportBytes = reportBytes
            self.graceMilliseconds = graceMilliseconds
            self.memoryBytes = memoryBytes
            self.processes = processes
            self.cpuWeight = cpuWeight
            self.workspaceBytes = workspaceBytes
            self.workspaceFiles = workspaceFiles
        }
    }
}
