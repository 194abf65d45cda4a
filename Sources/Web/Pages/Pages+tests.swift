import Encodings
import Hummingbird
import Model
import Storage

extension Pages {
    /// The number of tests of a search on one page.
    private static let searchRows = 100

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
        let query = try Self.searched(call)
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
