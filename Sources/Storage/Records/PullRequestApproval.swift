/// What became of an operator's approval.
package enum PullRequestApproval: Hashable, Sendable {
    /// The integration that it let begin.
    case queued(IntegrationRecord)
    /// It ran, or runs, without having been asked for: from its next run on it counts as approved.
    case noted(IntegrationRecord)
    /// No event told of such a pull request, or no look has found its head.
    case unknown
    case closed
    /// Its head is another commit than the one that was approved.
    case moved(to: String)
    /// The bot does not integrate it at all, and why.
    case refused(String)
}
