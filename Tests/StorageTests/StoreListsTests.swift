import GRDB
import Model
import TestSupport
import Testing

@testable import Storage

/// Lists and pages read only what they show, whatever else is stored.
@Suite struct StoreListsTests {
    /// Returns the number of statements of a read.
    private static func statements(
        _ fixture: StoreFixture, _ body: @escaping @Sendable (Database) throws -> Void
    ) async throws -> Int {
        try await fixture.store.read("count") { db in
            var count = 0
            db.trace { _ in count += 1 }
            defer { db.trace(options: []) }
            try body(db)
            return count
        }
    }

    @Test(.proves(.web, "Lists read what they show, however many bots, issues and queued integrations there are"))
    func testThatAsManyStatementsRunForManyBotsAsForOne() async throws {
        let kit = try name("kit")
        for bots in [["kit"], (0..<30).map { "bot\($0)" } + ["kit"]] {
            try await withStore(bots) { fixture in
                // given: each bot has an integration
                for bot in bots {
                    _ = try await fixture.store.queue(
                        NewIntegration(bot: name(bot), ref: .main, commit: commit(1), cause: .push), at: time(10))
                }
                // then
                #expect(try await Self.statements(fixture) { _ = try Store.bot(kit, $0) } == 1)
                #expect(try await Self.statements(fixture) { _ = try Store.bots($0) } == 1)
                #expect(try await Self.statements(fixture) { _ = try Store.lastCompleted($0) } == 1)
                #expect(
                    try await Self.statements(fixture) { _ = try Store.botOverviews(.init(), branches: 8, $0) } == 3)
                #expect(try await fixture.store.bots().count == bots.count)
                #expect(try await fixture.store.botOverviews(branches: 8).map(\.branches.count) == bots.map { _ in 1 })
            }
        }
    }

    @Test func testThatABotsStateIsItsNewestIntegrations() async throws {
        try await withStore(["app", "kit"]) { fixture in
            // given
            let store = fixture.store
            for ref in [.main, .line, RefName(tag: "1.0"), .main] { _ = try await fixture.queue(1, ref: ref) }
            // when
            let overviews = try await store.botOverviews(branches: 2)
            let bot = try #require(try await store.bot(name("kit")))
            // then
            #expect(overviews.map(\.name.description) == ["app", "kit"])
            #expect(overviews[0].branches.isEmpty)
            #expect(
                overviews[1].branches.map(\.current.number) == [4, 2]
                    && overviews[1].branches.map(\.ref.shortName) == ["main", "release/1.4"],
                "branches come before tags")
            #expect(bot.latest?.id.number == 4)
            #expect(try await store.bots().map(\.latest?.id.number) == [nil, 4])
            #expect(try await store.recentRefs(of: name("kit")) == [.main, RefName(tag: "1.0"), .line])
            #expect(try await store.bot(name("other")) == nil)
        }
    }

    @Test func testThatAnEarlierIntegrationIsTheNewestWhenALaterOneIsGone() async throws {
        try await withStore { fixture in
            // given
            let store = fixture.store
            for _ in 0..<3 { _ = try await fixture.queue() }
            let (hidden, deleted) = (try await fixture.queue(2, ref: .line).rowID, try await fixture.queue().rowID)
            func branches() async throws -> [Int] {
                try await store.botOverviews(branches: 8).flatMap(\.branches).map(\.current.number)
            }
            #expect(try await branches() == [5, 4])
            // when, then
            try await store.writer.write("hide") {
                try $0.db.change("UPDATE integrations SET removed_at = 1 WHERE id = ?", [hidden])
            }
            #expect(try await branches() == [5])
            try await store.writer.write("delete") {
                try $0.db.change("DELETE FROM integrations WHERE id = ?", [deleted])
            }
            #expect(try await branches() == [3])
            #expect(try await fixture.damage() == [])
        }
    }

    @Test func testThatAnIntegrationThatIsShownAgainIsTheNewest() async throws {
        try await withStore { fixture in
            // given: an older integration has replaced it
            let store = fixture.store
            let older = try await fixture.queue()
            let hidden = try await fixture.queue()
            func branches() async throws -> [Int] {
                try await store.botOverviews(branches: 8).flatMap(\.branches).map(\.current.number)
            }
            try await store.writer.write("hide") {
                try $0.db.change("UPDATE integrations SET removed_at = 1 WHERE id = ?", [hidden.rowID])
            }
            #expect(try await branches() == [older.id.number])
            // when
            try await store.writer.write("show") {
                try $0.db.change("UPDATE integrations SET removed_at = NULL WHERE id = ?", [hidden.rowID])
            }
            // then
            #expect(try await branches() == [hidden.id.number])
            #expect(try await fixture.damage() == [])
        }
    }

    @Test func testThatAPullRequestIsNotTheStateOfItsBot() async throws {
        try await withStore { fixture in
            // given
            let main = try await fixture.queue().id
            let pull = IntegratedPullRequest(
                number: 7, place: RefName(pullRequest: 7), base: .main, baseCommit: try commit(1), head: try commit(2))
            var new = NewIntegration(
                bot: try name("kit"), ref: RefName(pullRequest: 7), commit: try commit(2), cause: .push)
            new.pull = pull
            // when
            _ = try await fixture.store.queue(new, at: time(20))
            // then
            #expect(try await fixture.store.bot(name("kit"))?.latest?.id == main)
            #expect(
                try await fixture.store.botOverviews(branches: 8).flatMap(\.branches).map(\.current.number) == [
                    main.number
                ])
            #expect(try await fixture.store.integrations().items.map(\.pull?.number) == [7, nil])
        }
    }

    @Test(.proves(.web, "Lists read what they show, however many bots, issues and queued integrations there are"))
    func testThatListsDecodeNoRecipe() async throws {
        try await withStore { fixture in
            // given: JSON that is no recipe, for a recognized project
            let id = try await fixture.queue().id
            let recognition = ProjectType.Recognition(
                type: try #require(ProjectType.allCases.first), marker: "Package.swift")
            let text = try jsonText(["recognition": recognition])
            try await fixture.store.writer.write("damage") {
                try $0.db.change("UPDATE integrations SET recipe = ?", [text])
            }
            // when
            let listed = try #require(try await fixture.store.integrations().items.first)
            // then
            #expect(listed.id == id && listed.project == recognition.sentence)
            #expect(try await fixture.store.bots().map(\.latest?.project) == [recognition.sentence])
            await expectFailure(.corrupt, "recipe") { try await fixture.store.integration(id) }
        }
    }

    @Test func testThatTheNewestCompletedIntegrationCounts() async throws {
        try await withStore(["app", "kit"]) { fixture in
            // given
            let store = fixture.store
            var ids: [IntegrationID] = []
            for _ in 0..<2 { ids.append(try await fixture.queue().id) }
            try await store.apply(.started, to: ids[0], at: time(20))
            try await store.apply(.completed(.succeeded, triggerFailed: false), to: ids[0], at: time(30))
            // then
            #expect(try await store.lastCompleted().values.map(\.id) == [ids[0]])
        }
    }

    // MARK: Queries

    private static func plan(
        _ fixture: StoreFixture, _ sql: String, _ arguments: StatementArguments = []
    ) async throws -> String {
        try await fixture.store.read("explain") { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql, arguments: arguments)
                .map { $0["detail"] as String }.joined(separator: "\n")
        }
    }

    @Test(.proves(.web, "Lists read what they show, however many bots, issues and queued integrations there are"))
    func testThatQueriesReadNoMoreThanTheyAnswer() async throws {
        try await withStore { fixture in
            // the queue: only its index, in its order
            let heads = try await Self.plan(fixture, Store.headsQuery)
            expectContains(heads, "SCAN integrations USING INDEX integrations_queued")
            #expect(!heads.contains("TEMP B-TREE"), "\(heads)")
            // a bot: by its name
            let bot = try await Self.plan(fixture, Store.botQuery + " WHERE bots.name = ?", ["kit"])
            expectContains(bot, "SEARCH bots USING INDEX sqlite_autoindex_bots_1 (name=?)")
            expectContains(bot, "SEARCH integrations USING INTEGER PRIMARY KEY (rowid=?)")
            #expect(!bot.contains("SCAN"), "\(bot)")
            // all bots: one integration of each branch
            let overviews = try await Self.plan(fixture, Store.branchOverviewsQuery(nil), [nil, 8])
            expectContains(overviews, "SEARCH past USING COVERING INDEX integrations_by_ref (bot=? AND ref=?)")
            for table in ["integrations", "past", "last", "newest", "open"] {
                #expect(!overviews.contains("SCAN \(table)"), "\(overviews)")
            }
            // a bot's plots: the newest of a branch, or of all
            for (ofRef, index) in [
                (true, "integrations_by_ref (bot=? AND ref=?"), (false, "autoindex_integrations_1 (bot=?"),
            ] {
                let trend = try await Self.plan(
                    fixture, Store.trendQuery(ofRef: ofRef), ["kit", ofRef ? "refs/heads/main" : nil, 100])
                expectContains(trend, index)
                #expect(!trend.contains("TEMP B-TREE FOR ORDER BY") && !trend.contains("SCAN integrations"), "\(trend)")
            }
            // a branch's list: in the order of its rows
            var filter = IntegrationFilter(bot: try name("kit"))
            filter.ref = .main
            let ofRef = Store.listQuery(filter, limit: 50, before: nil)
            let branch = try await Self.plan(fixture, ofRef.sql, ofRef.arguments)
            expectContains(branch, "integrations_of_ref (bot=? AND ref=? AND rowid<?)")
            #expect(!branch.contains("TEMP B-TREE"), "\(branch)")
            // a bot's list: beginning with its newest
            let list = Store.listQuery(
                IntegrationFilter(bot: try name("kit")), limit: 50, before: nil)
            let listed = try await Self.plan(fixture, list.sql, list.arguments)
            expectContains(listed, "integrations_by_bot (bot=? AND rowid<?)")
            #expect(!listed.contains("TEMP B-TREE"), "\(listed)")
            // issues: counted in the index, and only those of the page are read
            let counts = try await Self.plan(fixture, Store.issueCountsQuery, [1, 1])
            expectContains(counts, "SEARCH issues USING COVERING INDEX issues_shown (integration=? AND issue_set=?)")
            #expect(!counts.contains("TEMP B-TREE"), "\(counts)")
            let part = try await Self.plan(fixture, Store.issuePartQuery, [1, 1, "new", "warning", 200, 0])
            expectContains(
                part, "COVERING INDEX issues_shown (integration=? AND issue_set=? AND status=? AND category=?)")
            expectContains(part, "SEARCH issues USING PRIMARY KEY (integration=? AND issue_set=? AND place=?)")
        }
    }

    // MARK: What is decoded

    @Test func testThatASummaryIsReadAsItWasWritten() throws {
        // given
        var summary = Summary()
        (summary.counts.errors, summary.counts.warnings, summary.counts.analyzerWarnings) = (1, 20, 300)
        (summary.counts.testFailures, summary.counts.tests, summary.counts.flakyTests) = (4, 50_000, 6)
        (summary.change.errors, summary.change.tests, summary.change.flakyTests) = (-1, -20, 3)
        let text = try jsonText(summary)
        // then
        #expect(Summary(written: text) == summary)
        for other in [
            "", "{}", text + " ", String(text.dropLast()), text.replacing("300", with: "3x"),
            text.replacing("\"errors\":1,", with: ""), text.replacing("300", with: "99999999999999999999"),
        ] {
            #expect(Summary(written: other) == nil, "\(other)")
        }
    }

    @Test func testThatAHeadIsDecodedOnceWhileItIsOne() throws {
        // given
        let heads = QueueHeads()
        func key(_ row: Int64, run: Int = 1) -> QueueHeads.Key {
            .init(row: row, run: run, supersededBy: nil, cause: "push")
        }
        func ask(_ keys: [QueueHeads.Key]) throws -> [[Int64]] {
            var decoded: [Int64] = []
            let found = try heads.integrations(keys) { missing in
                decoded = missing.map(\.row)
                return try missing.map {
                    OpenIntegration(
                        id: IntegrationID(bot: try name("kit"), number: Int($0.row)), rowID: $0.row, ref: .main,
                        commit: try commit(1), cause: .push, run: $0.run)
                }
            }
            return [found.map(\.rowID), decoded]
        }
        // then
        #expect(try ask([key(1), key(2)]) == [[1, 2], [1, 2]])
        #expect(try ask([key(1), key(2), key(3)]) == [[1, 2, 3], [3]])
        #expect(try ask([key(2), key(3, run: 2)]) == [[2, 3], [3]])
        #expect(try ask([key(1), key(2)]) == [[1, 2], [1]], "what was no head is forgotten")
    }
}
