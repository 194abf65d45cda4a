import GRDB
import Model

/// Pull requests that are open as far as events have told, and are not any more.
extension LookApplication {
    /// How long a head may be missing that was listed before: a server that is being repaired lists less for a while.
    static let patience = Duration.seconds(600)
    /// How long one may be missing of which no look has ever found the head: some forges make its ref when somebody looks at it.
    static let patienceForNew = Duration.seconds(86_400)

    /// Notes that a head is not listed; after a time it counts as closed.
    mutating func miss(_ pull: PullRequestRecord) throws {
        let since = pull.missingSince ?? look.at
        let isOver = look.at - since >= (pull.head == nil ? Self.patienceForNew : Self.patience)
        if isOver { return try close(pull, "the repository lists \(pull.place) no more") }
        if pull.missingSince == nil {
            try db.change(
                "UPDATE pull_requests SET missing_since = ? WHERE repository = ? AND number = ?",
                [since.millisecondsSinceEpoch, repository, pull.number])
        }
        pulls[pull.number] = PullFate(fate: .ignored, reason: "the repository does not list \(pull.place)")
    }

    /// Takes a pull request for closed, since what the look found says so and no event did. A newer event opens it again.
    mutating func close(_ pull: PullRequestRecord, _ reason: String) throws {
        pulls[pull.number] = nil
        try db.change(
            """
            UPDATE pull_requests SET is_open = 0, has_changed = 0, closed_at = ?, closed_reason = ?, told_rank = ?
            WHERE repository = ? AND number = ?
            """,
            [
                look.at.millisecondsSinceEpoch, reason, PullRequestStand.lastRank, repository, pull.number,
            ])
    }

    /// Marks pull requests as closed if no event mentioned them for too long, and, of too many, those with the lowest numbers: forges that keep the
    /// refs of all pull requests do not report one that was closed without being merged. A few in each look.
    mutating func closeForgottenPulls() throws {
        let limit = look.at.millisecondsSinceEpoch - Store.forgottenAfter.milliseconds
        let forgotten = try db.all(
            """
            SELECT * FROM pull_requests INDEXED BY pull_requests_moved
            WHERE repository = ? AND is_open = 1 AND moved_at < ? LIMIT \(Self.batch)
            """, [repository, limit], Store.pullRequest)
        let days = Store.forgottenAfter.components.seconds / 86_400
        for pull in forgotten { try close(pull, "nothing was told of it and its head has not moved for \(days) days") }
        let surplus = try db.all(
            """
            SELECT * FROM pull_requests WHERE repository = ?1 AND number IN (
                SELECT number FROM \(Store.openPullRequests) WHERE repository = ?1 AND is_open = 1
                ORDER BY number DESC LIMIT \(Self.batch) OFFSET \(Store.maximumKnownPulls))
            """, [repository], Store.pullRequest)
        for pull in surplus { try close(pull, "more than \(Store.maximumKnownPulls) with higher numbers are open") }
    }

    /// Forgets pull requests that were closed long ago, and, of too many, those that were closed first, with their approvals and silences. A few in
    /// each look, which is more than can be announced between two.
    func trimPulls() throws {
        let limit = look.at.millisecondsSinceEpoch - Store.closedKept.milliseconds
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

    /// Pull requests that one look closes or forgets: each is a row and its index entries, some 30 µs.
    private static let batch = 50
}
