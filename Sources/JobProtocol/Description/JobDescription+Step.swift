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
