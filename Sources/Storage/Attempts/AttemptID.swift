package import Model

/// The id of one attempt of a job, written `kit#41/debug/1`.
package struct AttemptID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let integration: IntegrationID
    /// The configuration's name.
    package let job: Name
    /// The attempt's number, counted from 1.
    package let attempt: Int

    package init(integration: IntegrationID, job: Name, attempt: Int) {
        self.integration = integration
        self.job = job
        self.attempt = attempt
    }

    package var description: String { "\(integration)/\(job)/\(attempt)" }

    package static func < (left: AttemptID, right: AttemptID) -> Bool {
        (left.integration, left.job, left.attempt) < (right.integration, right.job, right.attempt)
    }
}
