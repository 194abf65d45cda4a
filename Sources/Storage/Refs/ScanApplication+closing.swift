import GRDB
import Model

/// Closes pull requests that are open according to the events but no longer open in the repository.
extension ScanApplication {
    /// How long a head that was listed before may be missing: a server under repair lists fewer refs for a while.
    static let patience = Duration.seconds(600)
    /// How long a head may be missing that no scan has ever found: some forges create its ref only when somebody opens its page.
    static let patienceForNew = Duration.seconds(86_400)

    /// Records that a pull request's head is not listed. After `patience` or `patienceForNew` the pull request counts as closed.
    mutating func miss(_ pull: PullRequestRecord) throws {
        let since = pull.missingSince ?? scan.at
        let isOver = scan.at - since >= (pull.head == nil ? Self.patienceForNew : Self.patience)
        if isOver { return try close(pull, "the repository lists \(pull.place) no more") }
        if pull.missingSince == nil {
            try db.change(
                "UPDATE pull_requests SET missing_since = ? WHERE repository = ? AND number = ?",
                [since.millisecondsSinceEpoch, repository, pull.number])
        }
        pulls[pull.number] = PullOutcome(outcome: .ignored, reason: "the repository does not list \(pull.place)")
    }

    /// Marks a pull request as closed because the scan shows it, without an event. A newer event opens it again.
    mutating func close(_ pull: PullRequestRecord, _ reason: String) throws {
        pulls[pull.number] = nil
        try db.change(
            """
            UPDATE pull_requests SET is_open = 0, has_changed = 0, closed_at = ?, closed_reason = ?, told_rank = ?
            WHERE repository = ? AND number = ?
            """,
            [
                scan.at.millisecondsSinceEpoch, reason, PullRequestStand.lastRank, repository, pull.number,
            ])
    }

    /// Closes pull requests that no event has mentioned for too long and, if there are too many, those with the lowest numbers. Forges that keep the
    /// refs of all pull requests do not report one that was closed without being merged. Each scan closes at most `batch` of each kind.
    mutating func closeForgottenPulls() throws {
        let limit = scan.at.millisecondsSinceEpoch - Store.forgottenAfter.milliseconds
        let forgotten = try db.all(
            """
            SELECT * FROM pull_requests INDEXED BY pull_requests_moved
            WHERE repository = ? AND is_open = 1 AND moved_at < ? LIMIT \(Self.batch)
            """, [repository, limit], Store.pullRequest)
        let days = Store.forgottenAfter.components.seconds / 86_400
        for pull in forgotten { try close(pull, "no event named it and its head has not moved for \(days) days") }
        let surplus = try db.all(
            """
            SELECT * FROM pull_requests WHERE repository = ?1 AND number IN (
                SELECT number FROM \(Store.openPullRequests) WHERE repository = ?1 AND is_open = 1
                ORDER BY number DESC LIMIT \(Self.batch) OFFSET \(Store.maximumKnownPulls))
            """, [repository], Store.pullRequest)
        for pull in surplus { try close(pull, "more than \(Store.maximumKnownPulls) with higher numbers are open") }
    }

    /// Deletes pull requests that were closed long ago and, if there are too many, those that were closed first. Their approvals and silences are
    /// deleted with them. Each scan deletes at most `batch` of each kind, which is more than can be announced between two scans.
    func trimPulls() throws {
        let limit = scan.at.millisecondsSinceEpoch - Store.closedKept.milliseconds
        let closed =
            "SELECT number FROM pull_requests INDEXED BY pull_requests_closed WHERE repository = ? AND is_open = 0"
        let old: [Int] = try db.all(
            closed + " AND closed_at < ? ORDER BY closed_at LIMIT \(Self.batch)", [repository, limit]
        ) { try $0[0] }
        let surplus: [Int] = try db.all(
            closed + " ORDER BY closed_at DESC LIMIT \(Self.batch) OFFSET \(Store.maximumClosedPulls)", [repository]
        ) { try $0[0] }
        for number in Set(old + surplus) {
            for table in ["pull_approvals", "pull_silences"] {
                try db.change(
                    "DELETE FROM \(table) WHERE number = ?2 AND bot IN (SELECT id FROM bots WHERE repository = ?1)",
                    [repository, number])
            }
            try db.change("DELETE FROM pull_requests WHERE repository = ? AND number = ?", [repository, number])
        }
    }

    /// The most pull requests that one scan closes or deletes. Each is a row with its index entries and takes about 30 µs.
    private static let batch = 50
}
