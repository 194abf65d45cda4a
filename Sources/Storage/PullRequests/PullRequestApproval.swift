/// The result of an operator's approval.
package enum PullRequestApproval: Hashable, Sendable {
    /// The approval let this integration begin.
    case queued(IntegrationRecord)
    /// The integration ran, or runs, without needing the approval. It counts as approved from its next run on.
    case noted(IntegrationRecord)
    /// No event announced such a pull request, or no scan has found its head.
    case unknown
    case closed
    /// The pull request's head is another commit than the approved one.
    case moved(to: String)
    /// The bot does not integrate the pull request at all; the text is the reason.
    case refused(String)
}
