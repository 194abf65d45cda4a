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
    /// Where the job's processes see the workspace: `/martlet/<bot>` within a fence, the workspace itself without. What
    /// steps and environment say of paths is said in its terms.
    package var mountedAt: String
    /// The names of all secrets whose values come over the launch socket; all are masked in the log.
    package var secrets: [String]
    package var isolation: Isolation
    /// There exactly when `isolation` is `sandbox`.
    package var fence: Fence?
    package var limits: Limits
    package var collect: [Collect]

    package init(
        steps: [Step], environment: [String: String] = [:], workspace: String, mountedAt: String? = nil,
        secrets: [String] = [], isolation: Isolation = .none, fence: Fence? = nil, limits: Limits = Limits(),
        collect: [Collect] = []
    ) {
        self.steps = steps
        self.environment = environment
        self.workspace = workspace
        self.mountedAt = mountedAt ?? workspace
        self.secrets = secrets
        self.isolation = isolation
        self.fence = fence
        self.limits = limits
        self.collect = collect
    }

    /// What keeps a job from the machine it runs on. A word that the supervisor does not know is refused, never taken as
    /// none.
    package enum Isolation: String, Sendable, CaseIterable {
        /// Nothing: the job has all rights of the user it runs as.
        case none
        /// See `Fence`.
        case sandbox
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
