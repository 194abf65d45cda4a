import Encodings
import Hummingbird
import Model
import Storage

extension Pages {
    /// The number of rows of a grid on one page.
    private static let gridRows = 200
    /// The number of tests of a search on one page.
    private static let searchRows = 100

    /// Returns the page `/bots/{bot}/{number}/tests`.
    func grid(_ call: AuthorizedRequest) async throws -> Response {
        let record = try await site.integration(of: call)
        let (isAll, after) = (call.flag("all"), try call.number("after", 0...Int(Int32.max)) ?? 0)
        let grid = try await site.store.testGrid(of: record.id, all: isAll, limit: Self.gridRows, after: after)
        let href = "/bots/\(record.id.bot)/\(record.id.number)"
        let failing = grid.rows.prefix { $0.rank == 0 }.count
        let more = isAll ? "all=1&" : ""
        return try await page(
            "grid", title: "Tests of \(record.id)", section: "bots",
            [
                "bot": .text(record.id.bot), "number": .text(record.id.number), "href": .text(href),
                "says": .text(
                    PageText.count(grid.total, "test") + (after == 0 && failing > 0 ? ", \(failing) failing" : "")),
                "isAll": .flag(isAll), "configurations": .list(grid.configurations.map { ["text": .text($0)] }),
                "rows": .list(grid.rows.map { row($0, grid.configurations, of: record.id.bot) }),
                "hasRows": .flag(!grid.rows.isEmpty),
                "none": .text(grid.total == 0 ? "No test ran." : "Every test passed in every configuration."),
                "previous": .text(
                    after > 0 ? "\(href)/tests?\(more)after=\(max(0, after - Self.gridRows))" : nil),
                "next": .text(grid.more > 0 ? "\(href)/tests?\(more)after=\(after + grid.rows.count)" : nil),
            ])
    }

    private func row(_ spread: TestSpread, _ configurations: [Name], of bot: Name) -> ViewObject {
        [
            "name": .text(spread.name), "suite": .text(spread.suite.isEmpty ? nil : spread.suite),
            "history": .text(Self.historyPath(spread.fullName, of: bot)),
            "says": .text(spread.sentence(configurations)),
            "outcomes": .list(
                spread.outcomes.map { outcome in ["result": .list(outcome.map { [ResultView($0).view] } ?? [])] }),
        ]
    }

    /// Returns the path of a test's history.
    static func historyPath(_ fullName: String, of bot: Name) -> String {
        "/bots/\(bot)/tests/history?name=\(PercentEncoding.encode(fullName))"
    }

    /// Returns the page `/bots/{bot}/tests`.
    func tests(_ call: AuthorizedRequest) async throws -> Response {
        let bot = try await site.bot(of: call).name
        let query = call.query("query")
        let after = try call.number("after", 0...Int.max) ?? 0
        let branch = try await site.branch(call, of: bot)
        let flaky = try await site.store.flakyTests(of: bot, ref: branch)
        let list = try await site.store.namedTests(
            of: bot, ref: branch, containing: query, limit: Self.searchRows, after: Int64(after))
        let named = call.query("branch")
        let words =
            (named.map { "branch=\(PercentEncoding.encode($0))&" } ?? "")
            + (query.map { "query=\(PercentEncoding.encode($0))&" } ?? "")
        return try await page(
            "tests", title: "Tests of \(bot)", section: "bots",
            [
                "bot": .text(bot), "query": .text(query ?? ""), "named": .text(named),
                "branch": .text(branch?.shortName),
                "window": .text("the last \(PageText.count(flaky.integrations, "integration")) with tests"),
                "hasFlaky": .flag(!flaky.tests.isEmpty),
                "flaky": .list(
                    flaky.tests.map { test in
                        [
                            "name": .text(test.name), "suite": .text(test.suite.isEmpty ? nil : test.suite),
                            "history": .text(Self.historyPath(test.fullName, of: bot)),
                            "often": .text(
                                "flaky in \(test.flaky) of \(flaky.integrations)"
                                    + (test.changes > 0 ? ", changed \(PageText.count(test.changes, "time"))" : "")),
                            "configurations": .text(test.configurations.map(\.description).joined(separator: ", ")),
                            "href": .text("/bots/\(bot)/\(test.latest.number)"),
                            "latest": .text("#\(test.latest.number)"),
                        ]
                    }),
                "heading": .text(query == nil ? "All" : "Found"),
                "as": .text(list.integration.map { "as of #\($0.number)" } ?? ""),
                "configurations": .list(list.configurations.map { ["text": .text($0)] }),
                "tests": .list(list.tests.map { row($0.spread, list.configurations, of: bot) }),
                "hasTests": .flag(!list.tests.isEmpty),
                "none": .text(query == nil ? "No test ran yet." : "No test of this name."),
                "first": .text(after > 0 ? "/bots/\(bot)/tests" + (words.isEmpty ? "" : "?" + words.dropLast()) : nil),
                "next": .text(list.next.map { "/bots/\(bot)/tests?\(words)after=\($0)" }),
            ])
    }
}
