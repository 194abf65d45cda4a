package import Model

/// What a message is about: how things were at the moment that caused it. The rest, such as the issues, is read when it is sent.
package struct OutboxContent: Hashable, Sendable, Codable {
    package var moment: OutboxDestination.Moment
    package var commit: CommitID
    package var ref: RefName
    /// Of a pull request: the branch into which it is to go.
    package var base: RefName?
    package var at: Timestamp
    /// The integration's run.
    package var run: Int
    /// Of an integration or a job that came to its end.
    package var verdict: Verdict?
    package var hasFailedTrigger: Bool
    /// Of a job: whether it began. One that has a verdict has.
    package var hasBegun: Bool
    /// Why, in a sentence, where there is one.
    package var reason: String?
    /// Of what was published.
    package var version: String?
    /// Of a notice: what happened.
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

    /// What tells a pull request's statuses from those of its head's branch, and from those of the same head into another branch, where
    /// another recipe may have judged it: `:pull/main`.
    package var scope: String { base.map { ":pull/\($0.shortName)" } ?? "" }
}
