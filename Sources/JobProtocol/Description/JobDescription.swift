/// The content of `job.json`: what a supervisor runs, where, and within which limits. It contains the names of secrets, never their values.
package struct JobDescription: Sendable, Equatable {
    /// The size limit of the file in bytes.
    package static let sizeLimit = 4 * 1024 * 1024
    /// The largest number of steps of a job.
    package static let stepLimit = 256

    /// The steps, which run one after another.
    package var steps: [Step]
    /// The variables that every step gets. The supervisor's own environment is not inherited.
    package var environment: [String: String]
    /// The absolute path of the checkout on the host.
    package var workspace: String
    /// The path at which the job's processes see the workspace: `/martlet/<bot>` in a sandbox, otherwise the workspace itself. Paths in steps and
    /// environment are based on it.
    package var mountedAt: String
    /// The names of all secrets whose values are sent over the launch socket. All of them are masked in the log.
    package var secrets: [String]
    package var isolation: Isolation
    /// The sandbox; set exactly if `isolation` is `sandbox`.
    package var sandbox: Sandbox?
    package var limits: Limits
    package var collect: [Collect]

    package init(
        steps: [Step], environment: [String: String] = [:], workspace: String, mountedAt: String? = nil,
        secrets: [String] = [], isolation: Isolation = .none, sandbox: Sandbox? = nil, limits: Limits = Limits(),
        collect: [Collect] = []
    ) {
        self.steps = steps
        self.environment = environment
        self.workspace = workspace
        self.mountedAt = mountedAt ?? workspace
        self.secrets = secrets
        self.isolation = isolation
        self.sandbox = sandbox
        self.limits = limits
        self.collect = collect
    }

    /// How a job is isolated from the machine. The supervisor refuses an unknown keyword, rather than running the job without isolation.
    package enum Isolation: String, Sendable, CaseIterable {
        /// No isolation: the job has all rights of its user.
        case none
        /// The job runs in a sandbox; see `Sandbox`.
        case sandbox
    }

    /// Files that are copied to `artifacts/` after every required step has succeeded.
    package struct Collect: Sendable, Equatable {
        /// Patterns relative to the workspace; see `PathPattern`.
        package var patterns: [String]
        /// A directory in the workspace that is removed from the names. A match outside of it keeps its whole path.
        package var base: String

        package init(patterns: [String], base: String = "") {
            self.patterns = patterns
            self.base = base
        }
    }
}

extension JobDescription {
    /// A command of a job.
    package struct Step: Sendable, Equatable {
        /// The word of the job's step to which it belongs: analyzing, building, testing or archiving.
        package var step: String
        /// The name for display: `swift build`.
        package var name: String
        /// The command line. The first argument is looked up in the PATH of the step's environment. Never empty.
        package var arguments: [String]
        /// Variables in addition to the job's; these take precedence.
        package var environment: [String: String]
        /// The directory, relative to the workspace.
        package var workingDirectory: String
        /// The time limit on the monotonic clock, which stops while the machine sleeps.
        package var timeoutMilliseconds: Int64
        /// Patterns of files that the step writes. Matching files are deleted before the step, and copied to `reports/<index>/` after it.
        package var report: [String]
        /// Whether a failure of the step prevents later steps.
        package var isRequired: Bool
        /// The names of the secrets in the step's environment.
        package var secrets: [String]
        /// The network of the step. It is enforced only in a sandbox; with `isolation: none` it is only recorded.
        package var network: Network

        package init(
            step: String, name: String, arguments: [String], environment: [String: String] = [:],
            workingDirectory: String = ".", timeoutMilliseconds: Int64, report: [String] = [], isRequired: Bool = true,
            secrets: [String] = [], network: Network = .none
        ) {
            self.step = step
            self.name = name
            self.arguments = arguments
            self.environment = environment
            self.workingDirectory = workingDirectory
            self.timeoutMilliseconds = timeoutMilliseconds
            self.report = report
            self.isRequired = isRequired
            self.secrets = secrets
            self.network = network
        }
    }

    /// The network access of a step.
    package enum Network: String, Sendable, CaseIterable {
        /// No access: the step has a separate network with only its own loopback.
        case none
        /// The host's access. In a sandbox it includes the host's loopback only if `Sandbox.sharesNetwork` is set.
        case full
    }
}

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

extension JobDescription {
    /// The view that a step has of the machine with `isolation: sandbox`. The root is read-only. The step can write only to the workspace, a private
    /// /tmp and the job's home.
    package struct Sandbox: Sendable, Equatable {
        /// The largest number of paths in `readOnly`.
        package static let pathLimit = 64

        /// The absolute path of a directory on disk that becomes /, such as an image directory. If it is `nil`, the root has the host's /usr and the
        /// few files of /etc that programs need.
        package var root: String?
        /// Further absolute paths of the host that are visible at the same place, such as the toolchain and what the operator lists. A path that
        /// leads to the job directory or the workspaces is refused.
        package var readOnly: [String]
        /// The value of HOME.
        package var home: String
        /// The absolute path of the host's directory that becomes the home of all steps of the job; its size counts with the workspace. If it is
        /// `nil`, each step gets a new home in memory. That is used for jobs with one step.
        package var homeDirectory: String?
        /// The size of /tmp in bytes. It is in memory and new for each step.
        package var temporaryBytes: Int64
        /// The size in bytes of a home in memory.
        package var homeBytes: Int64
        /// Whether a step with the network uses the host's network, and thereby reaches servers on the host's loopback. Otherwise it gets a separate
        /// network that cannot reach them. If the daemon does not state it, the host's network is used.
        package var sharesNetwork: Bool

        package init(
            root: String? = nil, readOnly: [String] = [], home: String = "/home/martlet",
            homeDirectory: String? = nil,
            temporaryBytes: Int64 = 2 << 30, homeBytes: Int64 = 1 << 30, sharesNetwork: Bool = true
        ) {
            self.root = root
            self.readOnly = readOnly
            self.home = home
            self.homeDirectory = homeDirectory
            self.temporaryBytes = temporaryBytes
            self.homeBytes = homeBytes
            self.sharesNetwork = sharesNetwork
        }
    }
}
