package import Model

/// The refs that a scan of a repository found, as `LookApplication` applies them.
package struct Look: Sendable {
    package var request: LookRequest
    /// All branches and tags; tags are peeled to their commits. At most `maximumHeads`.
    package var heads: [RefName: CommitID]
    /// The heads of requested pull requests that were found, keyed by their ref in the repository.
    package var others: [RefName: CommitID]
    /// The refs of all requested pull requests.
    package var asked: Set<RefName>
    /// The pull requests whose heads were searched for in their bases' tips, keyed by number.
    package var judged: [Int: JudgedPull]
    package var defaultBranch: RefName?
    package var at: Timestamp
    /// The cause of integrations of moved refs: `push` if an event requested the scan, otherwise `poll`.
    package var cause: Cause
    /// The bots that currently have this repository.
    package var watchers: [Watcher]
    /// A problem that keeps bots from integrating although the scan succeeded. It is shown as the scan's error.
    package var problem: String?

    /// The most refs of one repository; git's listing of that many refs has about 8 MB. More are refused with `tooLarge`.
    package static let maximumHeads = 100_000

    package init(
        request: LookRequest, heads: [RefName: CommitID], others: [RefName: CommitID] = [:],
        asked: Set<RefName> = [], judged: [Int: JudgedPull] = [:], defaultBranch: RefName?, at: Timestamp, cause: Cause,
        watchers: [Watcher], problem: String? = nil
    ) {
        self.problem = problem
        self.others = others
        self.asked = asked
        self.judged = judged
        self.request = request
        self.heads = heads
        self.defaultBranch = defaultBranch
        self.at = at
        self.cause = cause
        self.watchers = watchers
    }
}
