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

    /// How a job is isolated from the machine. The supervisor refuses an unknown word, rather than running the job without isolation.
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
