import GRDB
package import Model

/// A pull request of a repository, as events announced it and the last scan saw it.
package struct PullRequestRecord: Hashable, Sendable {
    package var number: Int
    /// The pull request's name in the ledger.
    package var ref: RefName
    /// The ref that is searched for the pull request's head.
    package var place: RefName
    package var base: RefName
    package var isOpen: Bool
    /// Whether the pull request was reopened, or its base changed, since the last scan.
    package var hasChanged: Bool
    /// The head; `nil` before a scan has found it.
    package var head: CommitID?
    /// The branch of the repository whose tip was this head in the scan that found it; `nil` if the head is a fork's.
    package var source: RefName?
    /// The number of its heads so far.
    package var generation: Int
    /// The tip of its base in the scan that first saw this head for this base.
    package var baseTip: CommitID?
    /// The tip of its base that was last searched for the head.
    package var judgedTip: CommitID?
    /// The time of the first of the consecutive scans that did not list the head.
    package var missingSince: Timestamp?

    /// The pull request as watchers judge it; `nil` before a scan has found its head.
    package var seen: SeenPullRequest? {
        head.map { SeenPullRequest(number: number, base: base, head: $0, source: source) }
    }
}

/// An event's claim about a pull request. Only the scan determines which commit is its head and whose it is.
package struct PullRequestClaim: Hashable, Sendable {
    package var number: Int
    /// The pull request's name in the ledger.
    package var ref: RefName
    /// The ref in the repository that holds the pull request's head.
    package var place: RefName
    /// The branch that the pull request is to be merged into.
    package var base: RefName
    /// The head; `nil` if the forge does not send the whole id.
    package var head: CommitID?
    package var isOpen: Bool
    /// The forge's own time of the change, so that events that arrive out of order do no harm; `nil` if the forge sends none.
    package var toldAt: Timestamp?
    /// The change according to the forge. It orders events of the same time.
    package var change: Change

    /// The changes in the order in which they follow each other within one second. Users who close and reopen a pull request, to have it built again,
    /// do so at once.
    package enum Change: Int, Hashable, Sendable {
        case opened, updated, closed, reopened
    }

    package init(
        number: Int, ref: RefName, place: RefName, base: RefName, head: CommitID?, isOpen: Bool, toldAt: Timestamp?,
        change: Change = .updated
    ) {
        self.number = number
        self.ref = ref
        self.place = place
        self.base = base
        self.head = head
        self.isOpen = isOpen
        self.toldAt = toldAt
        self.change = isOpen ? change : .closed
    }
}

/// The result of checking whether a pull request's head has been merged into its base without an event.
package struct JudgedPull: Hashable, Sendable {
    package var head: CommitID
    /// The tip of the base that was searched for the head.
    package var tip: CommitID
    /// Whether the tip contains the head now, and did not when the head was first seen.
    package var isMerged: Bool

    package init(head: CommitID, tip: CommitID, isMerged: Bool) {
        self.head = head
        self.tip = tip
        self.isMerged = isMerged
    }
}

extension Store {
    /// The most open pull requests of a repository that a scan requests. If there are more, those with the highest numbers are requested.
    package static let maximumOpenPulls = 2000

    /// The most open pull requests of a repository that are stored. If there are more, those with the highest numbers are kept.
    static let maximumKnownPulls = 10_000
    /// The most closed pull requests of a repository that are stored.
    static let maximumClosedPulls = 5_000
    /// How long a closed pull request is stored.
    static let closedKept = Duration.seconds(90 * 86_400)
    /// How long a pull request counts as open without an event about it.
    static let forgottenAfter = Duration.seconds(180 * 86_400)

    /// The index of open pull requests stays small. The primary key also contains the closed ones, whose number keeps growing.
    static let openPullRequests = "pull_requests INDEXED BY pull_requests_open"

    static let openPullsQuery = """
        SELECT * FROM \(openPullRequests) WHERE repository = (SELECT id FROM repositories WHERE url = ?)
        AND is_open = 1 ORDER BY number DESC LIMIT \(maximumOpenPulls)
        """

    static let latestOfPullsQuery =
        outlineQuery + """
             WHERE integrations.id IN (SELECT (SELECT max(id) FROM integrations INDEXED BY integrations_by_pull_request
                WHERE bot = bots.id AND pull_request = pull_requests.number)
            FROM bots CROSS JOIN \(openPullRequests) ON pull_requests.repository = bots.repository
            WHERE bots.name = ? AND is_open = 1 ORDER BY number DESC LIMIT \(maximumOpenPulls))
            """

    /// Returns the open pull requests of a repository, newest first, at most `maximumOpenPulls`.
    package func openPulls(of repository: String) async throws(StoreError) -> [PullRequestRecord] {
        try await read("read the open pull requests of \(repository)") { db in
            try db.all(Self.openPullsQuery, [repository], Self.pullRequest)
        }
    }

    /// Returns the newest integration of each open pull request of a bot, keyed by number, for at most `maximumOpenPulls`.
    package func latestOfPulls(of bot: Name) async throws(StoreError) -> [Int: IntegrationOutline] {
        try await read("read the integrations of pull requests of \(bot)") { db in
            let columns = OutlineColumns()
            let all = try db.all(Self.latestOfPullsQuery, [bot.description]) { try Self.outline($0, columns) }
            return Dictionary(all.compactMap { outline in outline.pull.map { ($0.number, outline) } }) { $1 }
        }
    }

    static func pullRequest(_ row: StoredRow) throws -> PullRequestRecord {
        PullRequestRecord(
            number: try row["number"], ref: try row.ref("ref"), place: try row.ref("place"), base: try row.ref("base"),
            isOpen: try row["is_open"], hasChanged: try row["has_changed"],
            head: try row.optional("head") { CommitID($0) },
            source: (try row["source"] as String?).map { RefName($0) }, generation: try row["generation"],
            baseTip: try row.optional("base_tip") { CommitID($0) },
            judgedTip: try row.optional("judged_tip") { CommitID($0) },
            missingSince: try row.optionalTime("missing_since"))
    }

    /// Stores an event's claim about a pull request, with the event. An event that the forge sent before one that arrived earlier is ignored.
    static func note(
        _ claim: PullRequestClaim, of repository: Int64, at time: Timestamp, _ db: Database
    ) throws {
        let now = time.millisecondsSinceEpoch
        let known = try db.first(
            "SELECT * FROM pull_requests WHERE repository = ? AND number = ?", [repository, claim.number],
            PullRequestStand.init)
        guard let known else {
            // The heads of a pull request whose row was deleted meanwhile still count.
            return try db.change(
                """
                INSERT INTO pull_requests (repository, number, ref, place, base, is_open, told_at, told_rank, moved_at,
                    closed_at, generation)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, CASE WHEN ?6 THEN NULL ELSE ?9 END,
                    (SELECT coalesce(max(generation), 0) FROM ref_updates WHERE repository = ?1 AND ref = ?3))
                """,
                [
                    repository, claim.number, claim.ref.description, claim.place.description, claim.base.description,
                    claim.isOpen, claim.toldAt?.millisecondsSinceEpoch,
                    claim.toldAt == nil ? PullRequestStand.lastRank : claim.change.rawValue, now,
                ])
        }
        guard let next = known.after(claim) else { return }
        try db.change(
            """
            UPDATE pull_requests SET place = ?3, base = ?4, is_open = ?5, told_at = ?6, told_rank = ?7, base_before = ?8,
                has_changed = has_changed OR ?9, moved_at = ?10, closed_reason = NULL,
                missing_since = CASE WHEN ?5 THEN NULL ELSE missing_since END,
                closed_at = CASE WHEN ?5 THEN NULL ELSE coalesce(closed_at, ?10) END
            WHERE repository = ?1 AND number = ?2
            """,
            [
                repository, claim.number, claim.place.description, next.base.description, next.isOpen, next.toldAt,
                next.rank, next.baseBefore?.description, known.base != next.base || (next.isOpen && !known.isOpen), now,
            ])
    }

    /// Returns the newest integration of exactly this head into exactly this base that was not canceled and is not being canceled; `nil` if there is
    /// none. Canceled integrations do not judge the code.
    static func integration(
        of pull: SeenPullRequest, bot: Int64, _ db: Database
    ) throws -> IntegrationRecord? {
        try db.first(
            integrationQuery + """
                 WHERE bot = ? AND pull_request = ? AND integrations.base = ? AND integrations.head = ?
                AND CASE WHEN state = 'completed' THEN verdict <> 'canceled'
                    ELSE superseded_by IS NULL AND ending_run IS NOT run END
                ORDER BY integrations.id DESC LIMIT 1
                """,
            [bot, pull.number, pull.base.description, pull.head.description], integration)
    }

    /// Records that a running integration is to end, although it may continue for a while.
    /// - Throws: `notFound`.
    package func markEnding(_ id: IntegrationID, run: Int) async throws(StoreError) {
        try await writer.write("mark \(id) as ending") { transaction in
            try transaction.db.change(
                "UPDATE integrations SET ending_run = ? WHERE id = ? AND state <> 'completed'",
                [run, try Self.integrationRow(id, transaction.db)])
        }
    }

    /// Returns the user who approved exactly this head for exactly this base; `nil` if nobody did.
    static func approver(of pull: SeenPullRequest, bot: Int64, _ db: Database) throws -> String? {
        try db.first(
            "SELECT person FROM pull_approvals WHERE bot = ? AND number = ? AND base = ? AND head = ?",
            [bot, pull.number, pull.base.description, pull.head.description]
        ) { try $0[0] }
    }

    /// The beginning of the text shown for a fork's head that nobody has approved.
    package static let waitsForOperator = "its head is a fork's and waits for an operator"

    /// Returns the text shown for a fork's head that nobody has approved. The pull request is quoted in its command, because an interactive shell
    /// expands `!12` as a history reference.
    package static func awaitsApproval(_ pull: SeenPullRequest, bot: Name) -> String {
        "\(waitsForOperator): martlet approve '\(bot)!\(pull.number)' --commit \(pull.head)"
    }
}
