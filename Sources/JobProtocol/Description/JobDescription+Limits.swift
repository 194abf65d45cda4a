extension JobDescription {
    /// The resources that a job may use, the files that it may leave, and the time that it may take to end. The limits of memory, processes,
    /// processor and workspace apply with any isolation. docs/internals/decisions/0007-the-fence.md describes their mechanisms.
    package struct Limits: Sendable, Equatable {
        /// The size limit of the log in bytes. A step that prints more is ended with the limit `log over 64 MiB`.
        package var logBytes: Int64
        /// The size limit of all artifacts together, in bytes.
        package var fileBytes: Int64
        /// The largest number of artifacts, and of reports.
        package var files: Int
        /// The size limit of all reports together, in bytes.
        package var reportBytes: Int64
        /// The time between SIGTERM and SIGKILL.
        package var graceMilliseconds: Int64
        /// The memory limit in bytes of all processes of a step together, including what they write to /tmp and to a home in memory. `nil` means no
        /// limit. It is enforced only if the supervisor has a control group. A step that needs more is ended with the limit `out of memory at 2 GiB`.
        /// Swap is not available.
        package var memoryBytes: Int64?
        /// The largest number of processes and threads of a step at one time. At the limit fork fails, and the step is ended with the limit
        /// `processes over 512`.
        package var processes: Int
        /// The share of the processor among jobs that compete for it, from 1 to 10,000 (cgroup-v2, cpu.weight); `nil` means 100.
        package var cpuWeight: Int?
        /// The size limit of the workspace in bytes, as its file system counts it. A step that writes more is ended soon afterwards with the limit
        /// `workspace over 20 GiB`. No single file anywhere may be larger: `one file over 20 GiB`.
        package var workspaceBytes: Int64
        /// The largest number of files, directories and links in the workspace: `workspace over 2,000,000 files`.
        package var workspaceFiles: Int

        /// Creates limits. 20 GiB and 2,000,000 files are ten times the build directory of a large package in two configurations (Martlet's has 1.6
        /// GiB and 14,000 files with 6.3.1). 512 processes are the threads of a linker or a test run on 64 cores.
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
