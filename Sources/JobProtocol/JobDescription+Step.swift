extension JobDescription {
    /// One command of a job.
    package struct Step: Sendable, Equatable {
        /// The word of the job's step that it belongs to: analyzing, building, testing or archiving.
        package var step: String
        /// As people see it: `swift build`.
        package var name: String
        /// The first is looked up in the PATH of the step's environment. Never empty.
        package var arguments: [String]
        /// Added to the job's; these win.
        package var environment: [String: String]
        /// Relative to the workspace.
        package var workingDirectory: String
        /// On the monotonic clock, which stands still while the machine sleeps.
        package var timeoutMilliseconds: Int64
        /// Patterns of files that the step writes. They are deleted before it, and copied to `reports/<index>/` after it.
        package var report: [String]
        /// False: a failure does not stop later steps.
        package var isRequired: Bool
        /// The names of the secrets in its environment.
        package var secrets: [String]
        /// Held by a fence only; with `isolation: none` it is recorded and nothing more.
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

    /// What a step may reach beyond its own processes.
    package enum Network: String, Sendable, CaseIterable {
        /// Nothing: a network of its own, with nothing in it but its own loopback.
        case none
        /// What the host reaches; with a fence, its loopback only where the fence says so (`Fence.sharesNetwork`).
        case full
    }
}
