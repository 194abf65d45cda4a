package import Model

/// The facts of a message as they were at the moment that caused it. The rest, such as the issues, is read when it is sent.
package struct OutboxContent: Hashable, Sendable, Codable {
    package var moment: OutboxDestination.Moment
    package var commit: CommitID
    package var ref: RefName
    /// The target branch of the pull request; `nil` for a branch or a tag.
    package var base: RefName?
    package var at: Timestamp
    /// The integration's run.
    package var run: Int
    /// The verdict of a completed integration or job.
    package var verdict: Verdict?
    package var hasFailedTrigger: Bool
    /// Whether the job has begun. A job with a verdict counts as begun.
    package var hasBegun: Bool
    /// The reason in one sentence; `nil` if there is none.
    package var reason: String?
    /// The published version.
    package var version: String?
    /// The change that a notice reports.
    package var notice: NoticeContent?

    package init(
        moment: OutboxDestination.Moment, commit: CommitID, ref: RefName, base: RefName? = nil, at: Timestamp,
        run: Int = 1,
        verdict: Verdict? = nil, hasFailedTrigger: Bool = false, hasBegun: Bool = false, reason: String? = nil,
        version: String? = nil
    ) {
        self.moment = moment
        self.commit = commit
        self.ref = ref
        self.base = base
        self.at = at
        self.run = run
        self.verdict = verdict
        self.hasFailedTrigger = hasFailedTrigger
        self.hasBegun = hasBegun
        self.reason = reason
        self.version = version
    }

    /// The part of the subject that separates a pull request's statuses from those of other refs: `:pull/main`. Its head's branch, and a pull request
    /// of the same head into another branch, may have been judged by another recipe.
    package var scope: String { base.map { ":pull/\($0.shortName)" } ?? "" }
}
