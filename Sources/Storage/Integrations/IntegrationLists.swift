import GRDB
package import Model

/// The conditions of an integration listing. Every condition that is not `nil` must hold.
package struct IntegrationFilter: Hashable, Sendable {
    package var bot: Name?
    /// Only integrations of these bots; `nil`: of every bot.
    package var bots: BotScope?
    /// `queued`, `running` or `completed`.
    package var state: String?
    package var ref: RefName?
    package var commit: CommitID?
    package var verdict: Verdict?
    /// Whether skipped integrations are listed.
    package var hasSkipped = true
    /// Whether integrations of pull requests are left out: their results are no state of the bot's branches.
    package var leavesOutPulls: Bool

    package init(
        bot: Name? = nil, state: String? = nil, ref: RefName? = nil, commit: CommitID? = nil, verdict: Verdict? = nil,
        leavesOutPulls: Bool = false
    ) {
        self.leavesOutPulls = leavesOutPulls
        self.bot = bot
        self.state = state
        self.ref = ref
        self.commit = commit
        self.verdict = verdict
    }
}

/// An integration as lists show it. Its recipe and its bot's specification, which can have thousands of bytes, are not decoded.
package struct IntegrationOutline: Hashable, Sendable {
    package var id: IntegrationID
    /// The row's number, which is the cursor of listings.
    package var rowID: Int64
    package var commit: CommitID
    package var ref: RefName
    package var cause: Cause
    package var requestedBy: String?
    package var state: IntegrationState
    /// The number of the current run, counted from 1; each rerun adds one.
    package var run: Int
    /// The newer integration of the same ref that ended this one, or is about to.
    package var supersededBy: IntegrationID?
    /// Whether it was skipped for the stated reason: canceled before any part of it ran.
    package var isSkipped: Bool
    package var subject: String?
    package var author: String?
    /// What the project was recognized as, in one sentence; `nil` if it was not recognized, or not yet.
    package var project: String?
    /// The counts of issues; `nil` until they are complete.
    package var summary: Summary?
    /// The reason for its state; `nil` if the state explains itself.
    package var reason: String?
    /// Its pull request; `nil` for a branch or a tag.
    package var pull: IntegratedPullRequest?
    package var queuedAt: Timestamp
    package var startedAt: Timestamp?
    package var endedAt: Timestamp?

    /// The commit that users know and that gets the status. For a pull request this is its head, not the merge made from it.
    package var headCommit: CommitID { pull?.head ?? commit }
}

extension IntegrationRecord {
    /// The integration as lists show it.
    package var outline: IntegrationOutline {
        IntegrationOutline(
            id: id, rowID: rowID, commit: commit, ref: ref, cause: cause, requestedBy: requestedBy, state: state,
            run: run,
            supersededBy: supersededBy, isSkipped: isSkipped, subject: subject, author: author,
            project: recipe?.recognition?.sentence, summary: summary, reason: reason, pull: pull, queuedAt: queuedAt,
            startedAt: startedAt, endedAt: endedAt)
    }
}

extension StoredRow {
    /// Returns the summary in a column; `nil` if the column is `NULL`. Each row of a list has one, and decoding JSON takes longer than the query.
    /// Therefore text in this version's format is read without a decoder.
    func summary(_ column: String) throws -> Summary? {
        guard let text = try self[column] as String? else { return nil }
        return try Summary(written: text) ?? json(column, as: Summary.self)
    }
}

extension Summary {
    /// Reads the text that `jsonText` writes for a summary.
    /// - Parameter text: A summary's JSON text. Any other text, such as another order of keys or a missing key, gives `nil`.
    init?(written text: String) {
        var rest = text.utf8[...]
        func skip(_ literal: StaticString) -> Bool {
            literal.withUTF8Buffer { bytes in
                guard rest.starts(with: bytes) else { return false }
                rest = rest.dropFirst(bytes.count)
                return true
            }
        }
        func number(_ key: StaticString) -> Int? {
            guard skip(key) else { return nil }
            let digits = rest.prefix { $0 == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            rest = rest.dropFirst(digits.count)
            return Int(Substring(digits))
        }
        func values() -> Counts? {
            var counts = Counts()
            guard let analyzerWarnings = number("{\"analyzerWarnings\":"), let errors = number(",\"errors\":"),
                let flakyTests = number(",\"flakyTests\":"), let testFailures = number(",\"testFailures\":"),
                let tests = number(",\"tests\":"), let warnings = number(",\"warnings\":"), skip("}")
            else { return nil }
            (counts.errors, counts.warnings, counts.analyzerWarnings) = (errors, warnings, analyzerWarnings)
            (counts.testFailures, counts.tests, counts.flakyTests) = (testFailures, tests, flakyTests)
            return counts
        }
        func tally() -> TestTally? {
            guard let configurations = number("{\"configurations\":"), let failing = number(",\"failing\":"),
                let flaky = number(",\"flaky\":"), let skipped = number(",\"skipped\":"),
                let tests = number(",\"tests\":"), skip("}")
            else { return nil }
            return TestTally(
                tests: tests, configurations: configurations, failing: failing, flaky: flaky, skipped: skipped)
        }
        guard skip("{\"change\":"), let change = values(), skip(",\"counts\":"), let counts = values() else {
            return nil
        }
        let told = skip(",\"tally\":") ? tally() : nil
        guard skip("}"), rest.isEmpty else { return nil }
        self.init(counts: counts, change: change, tally: told)
    }
}

/// Lists of integrations. They select only the columns that lists show: a recipe can have thousands of bytes of JSON.
extension Store {
    /// The columns of an `IntegrationOutline`. The only part of the recipe is the recognized project type.
    static let outlineColumns = """
        integrations.id, number, "commit", ref, cause, requested_by, state, step, verdict, trigger_failed, run, is_skipped,
            subject, author, summary, reason, pull_request, pull_place, base, base_commit, head, source, approved_by,
            unmerged, queued_at, started_at, ended_at, bots.name AS bot_name, \(newerNumber),
            CASE WHEN json_valid(recipe) THEN json_extract(recipe, '$.recognition') ELSE recipe END AS recipe
        """

    static let outlineQuery = """
        SELECT \(outlineColumns) FROM integrations JOIN bots ON bots.id = bot AND removed_at IS NULL
        """

    /// The decoded column values that several outlines share.
    struct OutlineColumns {
        let recognition = RepeatedJSON<ProjectType.Recognition>("recipe")
    }

    static func outline(_ row: StoredRow, _ columns: OutlineColumns) throws -> IntegrationOutline {
        let bot = try row.name("bot_name")
        return IntegrationOutline(
            id: IntegrationID(bot: bot, number: try row["number"]), rowID: try row["id"],
            commit: try row.value("commit") { CommitID($0) }, ref: try row.ref("ref"),
            cause: try row.value("cause") { Cause(rawValue: $0) }, requestedBy: try row["requested_by"],
            state: try state(row), run: try row["run"],
            supersededBy: (try row["newer_number"] as Int?).map { IntegrationID(bot: bot, number: $0) },
            isSkipped: try row["is_skipped"], subject: try row["subject"], author: try row["author"],
            project: try columns.recognition.value(row)?.sentence, summary: try row.summary("summary"),
            reason: try row["reason"], pull: try pull(row), queuedAt: try row.time("queued_at"),
            startedAt: try row.optionalTime("started_at"), endedAt: try row.optionalTime("ended_at"))
    }

    /// Returns integrations, newest first.
    /// - Parameters:
    ///   - limit: The most integrations to return, at most `maximumPage`.
    ///   - cursor: The `next` of the previous page.
    package func integrations(
        _ filter: IntegrationFilter = IntegrationFilter(), limit: Int = 50, before cursor: Int64? = nil
    ) async throws(StoreError) -> Page<IntegrationOutline> {
        let limit = Self.pageSize(limit)
        return try await read("list integrations") { db in
            let (sql, arguments) = Self.listQuery(
                filter, among: try Self.names(in: filter.bots, db), limit: limit, before: cursor)
            let columns = OutlineColumns()
            let items = try db.all(sql, arguments) { try Self.outline($0, columns) }
            return Self.page(Array(items.prefix(limit)), hasMore: items.count > limit) { $0.rowID }
        }
    }

    /// Returns the query of a list. It selects one integration more than the list shows, to find out whether there are more.
    /// - Parameter names: The names of the filter's bots as JSON; `nil`: every bot.
    static func listQuery(
        _ filter: IntegrationFilter, among names: String? = nil, limit: Int, before cursor: Int64?
    ) -> (sql: String, arguments: StatementArguments) {
        var conditions = ["integrations.id < ?"]
        var arguments: StatementArguments = [cursor ?? .max]
        func require(_ column: String, _ value: String?) {
            guard let value else { return }
            conditions.append(column + " = ?")
            arguments += [value]
        }
        require("bots.name", filter.bot?.description)
        if let names {
            conditions.append("bots.name IN (SELECT value FROM json_each(?))")
            arguments += [names]
        }
        require("state", filter.state)
        require("ref", filter.ref?.description)
        require("\"commit\"", filter.commit?.description)
        require("verdict", filter.verdict?.rawValue)
        if !filter.hasSkipped { conditions.append("is_skipped = 0") }
        if filter.leavesOutPulls { conditions.append("pull_request IS NULL") }
        arguments += [limit + 1]
        let sql =
            outlineQuery + " WHERE " + conditions.joined(separator: " AND ")
            + " ORDER BY integrations.id DESC LIMIT ?"
        return (sql, arguments)
    }

    /// The number of a bot's newest integrations that `recentRefs` reads.
    static let refWindow = 200

    /// Returns the branches, tags and pull requests of a bot's newest `refWindow` integrations, each once, newest first.
    package func recentRefs(of bot: Name) async throws(StoreError) -> [RefName] {
        try await read("read the refs of \(bot)") { db in
            var seen: Set<RefName> = []
            return try db.all(
                """
                SELECT ref FROM integrations WHERE bot = (SELECT id FROM bots WHERE name = ?) AND removed_at IS NULL
                ORDER BY number DESC LIMIT \(Self.refWindow)
                """, [bot.description]
            ) { try $0.ref("ref") }.filter { seen.insert($0).inserted }
        }
    }
}
