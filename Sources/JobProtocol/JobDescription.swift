/// What stands in `job.json`: what a supervisor runs, where, and within which limits. It holds names of secrets, never
/// their values.
package struct JobDescription: Sendable, Equatable {
    /// The most bytes of the file.
    package static let sizeLimit = 4 * 1024 * 1024
    /// The most steps of a job.
    package static let stepLimit = 256

    /// Run one after another.
    package var steps: [Step]
    /// Each step's environment begins with this one. Nothing is inherited from the supervisor.
    package var environment: [String: String]
    /// The checkout, absolute, as the host sees it.
    package var workspace: String
    /// Where the job's processes see the workspace; with `isolation: none` the same.
    package var mountedAt: String
    /// The names of all secrets whose values come over the launch socket; all are masked in the log.
    package var secrets: [String]
    /// `none`; a word that is unknown to the supervisor is refused, never taken as none.
    package var isolation: String
    package var limits: Limits
    package var collect: [Collect]

    package init(
        steps: [Step], environment: [String: String] = [:], workspace: String, mountedAt: String? = nil,
        secrets: [String] = [], isolation: String = "none", limits: Limits = Limits(), collect: [Collect] = []
    ) {
        self.steps = steps
        self.environment = environment
        self.workspace = workspace
        self.mountedAt = mountedAt ?? workspace
        self.secrets = secrets
        self.isolation = isolation
        self.limits = limits
        self.collect = collect
    }

    /// What a job may leave and how long it may take to end.
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

        package init(
            logBytes: Int64 = 64 << 20, fileBytes: Int64 = 2 << 30, files: Int = 10_000, reportBytes: Int64 = 64 << 20,
            graceMilliseconds: Int64 = 10_000
        ) {
            self.logBytes = logBytes
            self.fileBytes = fileBytes
            self.files = files
            self.reportBytes = reportBytes
            self.graceMilliseconds = graceMilliseconds
        }
    }

    /// Files that are copied to `artifacts/` when every step that must succeed did.
    package struct Collect: Sendable, Equatable {
        /// Relative to the workspace; see `PathPattern`.
        package var patterns: [String]
        /// A directory in the workspace that is stripped from the names; a match outside it keeps its whole path.
        package var base: String

        package init(patterns: [String], base: String = "") {
            self.patterns = patterns
            self.base = base
        }
    }
}
