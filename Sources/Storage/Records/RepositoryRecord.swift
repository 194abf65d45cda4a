package import Model

/// A repository that some bot looks at.
package struct RepositoryRecord: Hashable, Sendable {
    package var url: String
    package var defaultBranch: RefName?
    /// The last look that succeeded.
    package var lastLook: Timestamp?
    /// Why the latest look failed, or the problem that keeps bots from integrating after a successful one; `nil` if there is none.
    package var lastError: String?
    /// Looks in a row that failed.
    package var failures: Int
    /// Whether an event asked for a look that was not made yet.
    package var isLookRequested: Bool
    /// Whether an authentic webhook ever arrived, so that polling only repairs what those lose.
    package var hasAuthenticWebhook: Bool
    /// Whether it has a branch or a tag now.
    package var hasHeads: Bool

    /// Whether the latest look succeeded and found neither branches nor tags: nobody has pushed to it yet.
    package var isEmpty: Bool { lastLook != nil && lastError == nil && !hasHeads }

    package init(
        url: String, defaultBranch: RefName?, lastLook: Timestamp?, lastError: String?, failures: Int,
        isLookRequested: Bool, hasAuthenticWebhook: Bool, hasHeads: Bool
    ) {
        self.url = url
        self.defaultBranch = defaultBranch
        self.lastLook = lastLook
        self.lastError = lastError
        self.failures = failures
        self.isLookRequested = isLookRequested
        self.hasAuthenticWebhook = hasAuthenticWebhook
        self.hasHeads = hasHeads
    }
}
