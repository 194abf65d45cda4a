/// An open pull request of a bot.
package struct PullRequest: Codable, Hashable, Sendable {
    /// The forge's number.
    package var number: Int
    /// The full name of the branch that it wants to change.
    package var base: String
    /// Its newest commit; `nil` before a scan has found it.
    package var head: String?
    /// The branch of its head; `nil` for a fork.
    package var source: String?
    /// Whether its head is a branch of the repository itself, not of a fork.
    package var trusted: Bool
    /// `integrated`, `waiting` for an operator, `refused`, or `unseen` if no scan has found its head yet.
    package var state: String
    /// Why it is not integrated; `nil` if it is.
    package var reason: String?
    /// Its newest integration, such as `kit#41`; `nil` if it has none. It may be that of an earlier head.
    package var integration: String?

    /// Creates a value from all its properties.
    package init(
        number: Int, base: String, head: String?, source: String?, trusted: Bool, state: String, reason: String?,
        integration: String?
    ) {
        self.number = number
        self.base = base
        self.head = head
        self.source = source
        self.trusted = trusted
        self.state = state
        self.reason = reason
        self.integration = integration
    }
}

/// The body of an operator's approval of a fork's pull request.
package struct ApprovalRequest: Codable, Hashable, Sendable {
    /// The whole id of the head.
    package var commit: String

    /// Creates a value from all its properties.
    package init(commit: String) {
        self.commit = commit
    }
}
