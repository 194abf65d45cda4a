package import Model

/// A repository that at least one bot watches.
package struct RepositoryRecord: Hashable, Sendable {
    package var url: String
    package var defaultBranch: RefName?
    /// The time of the last successful scan.
    package var lastLook: Timestamp?
    /// Why the latest scan failed, or the problem that keeps bots from integrating after a successful one; `nil` if there is none.
    package var lastError: String?
    /// The number of consecutive scans that failed.
    package var failures: Int
    /// Whether an event requested a scan that has not been made yet.
    package var isLookRequested: Bool
    /// Whether an authentic webhook has ever arrived. If so, polling only makes up for lost webhooks.
    package var hasAuthenticWebhook: Bool
    /// Whether it has a branch or a tag now.
    package var hasHeads: Bool

    /// Whether the latest scan succeeded and found neither branches nor tags: nobody has pushed to it yet.
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
