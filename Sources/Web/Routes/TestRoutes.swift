import API
import HTTPTypes
import Hummingbird
import Model
import Storage

/// Tests through time: of one integration in a grid, of a bot by name, of one test its life.
struct TestRoutes: Sendable {
    let site: Site

    /// The default limit of a listing of tests: what an integration's page shows at once.
    static let usualLimit = 1000
    /// The most tests of one answer.
    static let maximumLimit = 5000

    /// The parameters of `page(_:)`.
    static let paging: [QueryParameter] = [.limit(maximumLimit, usual: usualLimit), .after]

    private static let integration = "/api/v1/bots/{bot}/integrations/{number}"

    var routes: [Route] {
        [
            Route(
                .get, Self.integration + "/tests", .read,
                "Its tests; ?failing ?outcome= ?configuration= ?attempt= ?limit= ?after=."
            ) { call in
                let record = try await site.integration(of: call)
                let (limit, after) = try Self.page(call)
                let page = try await site.store.testPage(
                    of: record.id, attempt: call.attempt(), configuration: try Self.configuration(call),
                    outcomes: try Self.outcomes(call), limit: limit, after: after)
                return try .json(API.List(page.items.map { API.TestCase($0) }, next: page.next))
            }.described(
                "listTests", .tests,
                query: [
                    .flag("failing", "Only failed and crashed tests."),
                    .word("outcome", "Only tests with this outcome.", TestResult.Outcome.self), .configuration,
                    .attempt,
                ] + Self.paging, .json(API.List<API.TestCase>.self)),
            Route(
                .get, Self.integration + "/tests/grid", .read,
                "Its tests × configurations, what fails first; ?all ?attempt= ?limit= ?after= (Range, conditional)."
            ) { call in
                let (limit, after) = try Self.page(call)
                let (attempt, all) = (try call.attempt(), try call.flag("all"))
                let export = ExportAnswers(site: site, type: Response.jsonType) { _, record in
                    let grid = try await site.store.testGrid(
                        of: record.id, attempt: attempt, all: all, limit: limit, after: after)
                    let response = try Response.json(
                        API.TestGrid(
                            configurations: grid.configurations.map(\.description), total: grid.total,
                            items: grid.rows.map { API.TestOutcomes($0, grid.configurations) },
                            next: grid.more > 0 ? String(after + grid.rows.count) : nil))
                    // An empty first page shows that all tests have passed. Pages beyond the last one take no place from others.
                    return .init(response: response, isKept: after == 0 || !grid.rows.isEmpty)
                }
                return try await export.answer(call, "tests/grid", "\(attempt ?? 0) \(all) \(limit) \(after)")
            }.described(
                "getTestGrid", .tests,
                query: [.flag("all", "Also the tests that passed in every configuration."), .attempt] + Self.paging,
                .json(API.TestGrid.self)
            ).costing(.kept),
            Route(
                .get, "/api/v1/bots/{bot}/tests", .read,
                "A bot's tests with their newest outcomes; ?branch= ?query= (a part of the name) ?limit= ?after=."
            ) { call in
                let (limit, after) = try Self.page(call)
                let bot = try await site.bot(of: call).name
                let list = try await site.store.namedTests(
                    of: bot, ref: try await site.branch(call, of: bot), containing: call.query("query"), limit: limit,
                    after: Int64(after))
                return try .json(
                    API.NamedTests(
                        integration: list.integration?.description,
                        configurations: list.configurations.map(\.description),
                        items: list.tests.map { API.TestOutcomes($0.spread, list.configurations) },
                        next: list.next.map { String($0) }))
            }.described(
                "listTestsOfBot", .tests,
                query: [.branch, .text("query", "A part of the name.", example: "parse")] + Self.paging,
                .json(API.NamedTests.self)),
            Route(
                .get, "/api/v1/bots/{bot}/tests/flaky", .read,
                "Its flaky tests in its newest integrations; ?branch= ?integrations= (1 to 200)."
            ) { call in
                let bot = try await site.bot(of: call).name
                let list = try await site.store.flakyTests(
                    of: bot, ref: try await site.branch(call, of: bot),
                    integrations: try call.number("integrations", 1...Store.maximumPage) ?? 100)
                return try .json(
                    API.FlakyTests(
                        items: list.tests.map { API.FlakyTests.Item($0) }, next: nil,
                        integrations: list.integrations))
            }.described(
                "listFlakyTests", .tests,
                query: [
                    .branch,
                    .number(
                        "integrations", "How many integrations are examined: 1 to 200, 100 by default.", minimum: 1),
                ], .json(API.FlakyTests.self)),
            Route(
                .get, "/api/v1/bots/{bot}/tests/history", .read,
                "One test's life; ?name=SUITE/NAME ?branch= ?configuration= ?limit= (integrations) ?before=."
            ) { call in
                guard let test = call.query("name") else { throw Problem(400, "`name` says which test: SUITE/NAME.") }
                let bot = try await site.bot(of: call).name
                let (limit, before) = try call.page()
                let ref = call.ref("branch")
                guard
                    let history = try await site.store.testHistory(
                        of: test, bot: bot, ref: ref, configuration: try Self.configuration(call),
                        limit: limit,
                        before: before)
                else { throw Problem.notFound }
                let failures = try await site.store.lastFailures(of: test, bot: bot, ref: ref)
                return try .json(API.TestHistory(history, failures: failures))
            }.described(
                "getTestHistory", .tests,
                query: [
                    .text("name", "The test: SUITE/NAME.", example: "ParserTests/testThatItParses", isRequired: true),
                    .branch, .configuration, .limit(),
                    .before,
                ], .json(API.TestHistory.self)),
        ].costing(.export)
    }

    static func page(_ call: AuthorizedRequest) throws -> (limit: Int, after: Int) {
        (try call.number("limit", 1...maximumLimit) ?? usualLimit, try call.number("after", 0...Int(Int32.max)) ?? 0)
    }

    private static func configuration(_ call: AuthorizedRequest) throws -> Name? {
        guard let text = call.query("configuration") else { return nil }
        guard let name = Name(text) else { throw Problem(400, "`configuration` is a name.") }
        return name
    }

    private static func outcomes(_ call: AuthorizedRequest) throws -> Set<TestResult.Outcome>? {
        if let text = call.query("outcome") {
            guard let outcome = TestResult.Outcome(rawValue: text) else {
                let words = TestResult.Outcome.allCases.map(\.rawValue).joined(separator: ", ")
                throw Problem(400, "`outcome` is one of \(words).")
            }
            return [outcome]
        }
        return try call.flag("failing") ? Set(TestResult.Outcome.allCases.filter(\.isFailure)) : nil
    }
}

extension AuthorizedRequest {
    /// Returns a query parameter that is a branch's short name or a whole ref; `nil` if it is absent.
    func ref(_ name: String) -> RefName? {
        query(name).map { $0.hasPrefix("refs/") ? RefName($0) : RefName(branch: $0) }
    }

    /// Returns a numeric query parameter; `nil` if it is absent. A number above its range becomes the largest.
    /// - Throws: 400 for a text that is no number, and for a number below its range.
    func number(_ name: String, _ range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = query(name) else { return nil }
        guard let number = Self.clamped(text), number >= range.lowerBound else {
            throw Problem(400, "`\(name)` is a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return min(Int(clamping: number), range.upperBound)
    }

    /// Returns a number in decimal digits; the largest one if it has too many digits. Returns `nil` for another text.
    static func clamped(_ text: String) -> Int64? {
        if let number = Int64(text) { return number }
        let isNumber = !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isNumber ? .max : nil
    }
}

extension Site {
    /// Returns the branch that a request is about: `?branch=`, or the one that stands for the bot; `nil` if the bot has none, which means all its
    /// branches and tags.
    func branch(_ call: AuthorizedRequest, of bot: Name) async throws -> RefName? {
        if let named = call.ref("branch") { return named }
        return try await store.mainRef(of: bot)
    }

    /// - Throws: 404.
    func bot(of call: AuthorizedRequest) async throws -> BotRecord {
        let name = try call.name("bot")
        guard let bot = try await store.bot(name) else { throw Problem.notFound }
        return bot
    }
}
