package import Model

/// What a look at a repository saw, for transaction 2.
package struct Look: Sendable {
    package var request: LookRequest
    /// Every branch and tag, tags peeled to their commits. At most `maximumHeads`.
    package var heads: [RefName: CommitID]
    /// Heads of pull requests that were asked for, by where they are in the repository, and found.
    package var others: [RefName: CommitID]
    /// All that were asked for.
    package var asked: Set<RefName>
    /// Pull requests whose head was looked for in their base's tip, by number.
    package var judged: [Int: JudgedPull]
    package var defaultBranch: RefName?
    package var at: Timestamp
    /// The cause of the integrations of refs that moved: `push` when an event asked for the look, else `poll`.
    package var cause: Cause
    /// The bots that have this repository now.
    package var watchers: [Watcher]
    /// The problem that keeps bots from integrating although the look succeeded; shown as the error of the look.
    package var problem: String?

    /// Refs of one repository; git's own listing of that many is about 8 MB. More is refused with `tooLarge`.
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
