import GRDB
package import Model

/// A bot as the overview page shows it.
package struct BotOverview: Hashable, Sendable {
    /// A branch or tag of the bot that its repository still has.
    package struct Branch: Hashable, Sendable {
        package var ref: RefName
        /// Whether it is the repository's default branch.
        package var isDefault: Bool
        /// The integration that runs; the newest one if none does.
        package var current: Integration
        /// The newest integration that judged the code; the newest completed one if none did; `nil` before the first end. It is `current` unless
        /// a later one is under way or was canceled.
        package var last: Integration?
        /// The last `ResultStrip.length` results.
        package var strip: ResultStrip
    }

    /// What the overview shows of an integration.
    package struct Integration: Hashable, Sendable {
        package var number: Int
        package var state: IntegrationState
        /// See `IntegrationRecord.isSkipped`.
        package var isSkipped: Bool
        package var subject: String?
        package var summary: Summary?
        package var queuedAt: Timestamp
    }

    package var name: Name
    /// The repository as the bot's file writes it.
    package var repository: String
    /// Whether the bot's file is gone. Its branches are not read then.
    package var isRetired: Bool
    /// See `RepositoryRecord.lastError`; `nil` for a retired bot.
    package var lookError: String?
    /// See `RepositoryRecord.isEmpty`; false for a retired bot.
    package var isEmpty: Bool
    /// The branches and tags to show: the default branch, the other branches and then the tags, the most recently integrated first.
    package var branches: [Branch]
    /// The number of branches and tags that match, with those that are not shown.
    package var total: Int

    package init(
        name: Name, repository: String, isRetired: Bool, lookError: String?, isEmpty: Bool, branches: [Branch],
        total: Int
    ) {
        self.name = name
        self.repository = repository
        self.isRetired = isRetired
        self.lookError = lookError
        self.isEmpty = isEmpty
        self.branches = branches
        self.total = total
    }
}

/// Which branches of which bots the overview shows. Every condition that is not `nil` must hold.
package struct OverviewFilter: Hashable, Sendable {
    /// What a branch needs to be shown: a red result, an integration that runs, or one that waits.
    package enum State: String, Sendable, CaseIterable { case red, running, waiting }

    /// A part of the bot's or the ref's name. ASCII letters match in either case.
    package var text: String?
    package var state: State?

    package init(text: String? = nil, state: State? = nil) { (self.text, self.state) = (text, state) }
}

/// The results of a ref's newest completed integrations. It is compared as the text that the database makes, and read only where it is drawn.
package struct ResultStrip: Hashable, Sendable {
    /// The number of results of a strip.
    package static let length = 20

    /// The result of one integration.
    package struct Item: Hashable, Sendable {
        package var number: Int
        package var result: IntegrationResult
        /// From the start to the end; `nil` if it never began.
        package var duration: Duration?
    }

    let text: String

    package init(text: String) { self.text = text }

    /// The results, the oldest first.
    package var items: [Item] {
        text.split(separator: " ").compactMap { part in
            let fields = part.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count == 4, let number = Int(fields[0]), let verdict = Verdict(rawValue: String(fields[1]))
            else { return nil }
            return Item(
                number: number, result: IntegrationResult(verdict: verdict, triggerFailed: fields[2] == "1"),
                duration: Int64(fields[3]).map { .milliseconds($0) })
        }.reversed()
    }
}

extension Store {
    static let botOverviewsQuery = """
        SELECT bots.id, name, url, is_retired, last_error, last_look IS NOT NULL AND last_error IS NULL
            AND NOT EXISTS (SELECT 1 FROM refs WHERE repository = repositories.id AND head IS NOT NULL) AS is_empty
        FROM bots JOIN repositories ON repositories.id = repository ORDER BY name
        """

    /// A strip's text, of the ref `shown.ref` of the bot `shown.bot`. It reads the index `integrations_by_ref` alone.
    private static let stripText = """
        (SELECT group_concat(number || ':' || verdict || ':' || trigger_failed || ':' || coalesce(ended_at - started_at, ''), ' ')
            FROM (SELECT number, verdict, trigger_failed, started_at, ended_at FROM integrations AS past
                WHERE past.bot = shown.bot AND past.ref = shown.ref AND state = 'completed' AND is_skipped = 0
                AND removed_at IS NULL ORDER BY number DESC LIMIT \(ResultStrip.length)))
        """

    /// The number of the last integration of a ref that judged the code, or else of the last completed one: of the ref `live.ref` of `live.bot`.
    private static let lastNumber = """
        coalesce(
            (SELECT number FROM integrations AS past WHERE past.bot = live.bot AND past.ref = live.ref
                AND state = 'completed' AND is_skipped = 0 AND verdict <> 'canceled' AND removed_at IS NULL
                ORDER BY number DESC LIMIT 1),
            (SELECT number FROM integrations AS past WHERE past.bot = live.bot AND past.ref = live.ref
                AND state = 'completed' AND is_skipped = 0 AND removed_at IS NULL ORDER BY number DESC LIMIT 1))
        """

    /// The branches and tags of bots with a file, without those that the repository no longer has.
    private static let liveRefs = """
        SELECT newest_of_refs.bot, bots.name AS name, newest_of_refs.ref, newest_of_refs.integration AS newest,
            newest_of_refs.ref IS default_branch AS is_default, newest_of_refs.ref LIKE 'refs/tags/%' AS is_tag
        FROM bots JOIN repositories ON repositories.id = bots.repository
        CROSS JOIN newest_of_refs ON newest_of_refs.bot = bots.id
        WHERE is_retired = 0 AND NOT EXISTS (SELECT 1 FROM refs
            WHERE refs.repository = bots.repository AND refs.name = newest_of_refs.ref AND head IS NULL)
        """

    /// The condition that the last result of the ref `live.ref` is one that somebody has to look at.
    private static let isRed = """
        EXISTS (SELECT 1 FROM integrations AS last WHERE last.bot = live.bot AND last.number = \(lastNumber)
            AND last.verdict <> 'canceled' AND (last.trigger_failed = 1
                OR last.verdict IN ('test-failures', 'build-errors', 'checkout-error', 'internal-error')))
        """

    private static func isOpen(_ state: String) -> String {
        """
        EXISTS (SELECT 1 FROM integrations AS open INDEXED BY integrations_open WHERE open.state = '\(state)'
            AND open.state <> 'completed' AND open.bot = live.bot AND open.ref = live.ref)
        """
    }

    /// The condition for a filter. Its pattern for `LIKE`, or NULL, is the first argument.
    private static func condition(_ state: OverviewFilter.State?) -> String {
        let text = "(?1 IS NULL OR name LIKE ?1 ESCAPE '\\' OR live.ref LIKE ?1 ESCAPE '\\')"
        return switch state {
        case nil: text
        case .red: "\(text) AND \(isRed)"
        case .running: "\(text) AND \(isOpen("running"))"
        case .waiting: "\(text) AND \(isOpen("queued"))"
        }
    }

    static func branchCountsQuery(_ state: OverviewFilter.State?) -> String {
        "SELECT live.bot, count(*) FROM (\(liveRefs)) AS live WHERE \(condition(state)) GROUP BY live.bot"
    }

    /// The second argument is the most branches of a bot.
    static func branchOverviewsQuery(_ state: OverviewFilter.State?) -> String {
        """
        SELECT live.bot, live.ref, live.is_default, live.strip, current.number, current.state,
            current.step, current.verdict, current.trigger_failed, current.is_skipped, current.subject, current.summary,
            current.queued_at, last.number AS last_number, last.verdict AS last_verdict,
            last.trigger_failed AS last_trigger_failed, last.subject AS last_subject, last.summary AS last_summary,
            last.queued_at AS last_queued_at
        FROM (SELECT shown.*, \(stripText) AS strip, coalesce(
                (SELECT open.id FROM integrations AS open INDEXED BY integrations_open WHERE open.state = 'running'
                    AND open.state <> 'completed' AND open.bot = shown.bot AND open.ref = shown.ref
                    ORDER BY open.id LIMIT 1), shown.newest) AS current
            FROM (SELECT live.*, row_number() OVER
                    (PARTITION BY live.bot ORDER BY is_default DESC, is_tag, newest DESC) AS place
                FROM (\(liveRefs)) AS live WHERE \(condition(state))) AS shown WHERE shown.place <= ?2) AS live
        CROSS JOIN integrations AS current ON current.id = live.current
        LEFT JOIN integrations AS last ON last.bot = live.bot AND last.number = \(lastNumber)
        ORDER BY live.bot, live.place
        """
    }

    static let redRefsQuery = "SELECT count(*) FROM (\(liveRefs)) AS live WHERE \(isRed)"

    /// Returns every bot that was ever registered, by name, with its branches. It runs three statements, independent of the number of bots.
    /// - Parameter limit: The most branches and tags per bot.
    package func botOverviews(
        _ filter: OverviewFilter = OverviewFilter(), branches limit: Int
    ) async throws(StoreError) -> [BotOverview] {
        try await read("read the overview of all bots") { db in try Self.botOverviews(filter, branches: limit, db) }
    }

    /// Returns the number of branches and tags, of bots with a file, whose last result is red: the code or Martlet failed.
    package func redRefs() async throws(StoreError) -> Int {
        try await read("count the red branches") { db in try db.value(Self.redRefsQuery) ?? 0 }
    }

    static func botOverviews(_ filter: OverviewFilter, branches limit: Int, _ db: Database) throws -> [BotOverview] {
        var branches: [Int64: [BotOverview.Branch]] = [:]
        var totals: [Int64: Int] = [:]
        let pattern = filter.text.map { "%\(escapedForLike($0))%" }
        let _: [Void] = try db.all(branchOverviewsQuery(filter.state), [pattern, limit]) { row in
            branches[try row[0], default: []].append(try branch(row))
        }
        let _: [Void] = try db.all(branchCountsQuery(filter.state), [pattern]) { row in totals[try row[0]] = try row[1]
        }
        return try db.all(botOverviewsQuery) { row in
            let isRetired: Bool = try row[3]
            let id: Int64 = try row[0]
            return BotOverview(
                name: try row.name("name"), repository: try row[2], isRetired: isRetired,
                lookError: isRetired ? nil : try row[4], isEmpty: try row[5] && !isRetired,
                branches: branches[id] ?? [], total: totals[id] ?? 0)
        }
    }

    private static func branch(_ row: StoredRow) throws -> BotOverview.Branch {
        var last: BotOverview.Integration?
        if let number: Int = try row[13] {
            last = BotOverview.Integration(
                number: number,
                state: .completed(
                    try row.value("last_verdict") { Verdict(rawValue: $0) }, triggerFailed: try row[15]),
                isSkipped: false, subject: try row[16], summary: try row.summary("last_summary"),
                queuedAt: try row.time("last_queued_at"))
        }
        return BotOverview.Branch(
            ref: try row.ref("ref"), isDefault: try row[2],
            current: BotOverview.Integration(
                number: try row[4], state: try state(row), isSkipped: try row[9], subject: try row[10],
                summary: try row.summary("summary"), queuedAt: try row.time("queued_at")),
            last: last, strip: ResultStrip(text: try row[3] ?? ""))
    }

    /// Returns a text in which `LIKE … ESCAPE '\\'` finds the text itself.
    static func escapedForLike(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("%", with: "\\%").replacing("_", with: "\\_")
    }
}
