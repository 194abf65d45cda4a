import API
import ArgumentParser
import Encodings
import Model

/// The command `martlet tests BOT#N`.
struct Tests: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "tests", abstract: "Lists an integration's tests.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "Such as kit#41, or kit for the latest of a branch or tag.") var integration: IntegrationArgument
    @Flag(help: "Only failed and crashed ones.") var failing = false
    @Flag(help: "A row a test and a column a configuration: those that are not passed everywhere, what fails first.")
    var grid = false
    @Flag(help: "With --grid: also those that passed everywhere.") var all = false
    @Option(help: "Of which attempt; the last when left out.") var attempt: Int?
    @Flag(help: "Print the daemon's JSON: at most 5,000 tests; `next` is what --after takes for those that follow.")
    var json = false
    @Option(help: "With --json: how many come before.") var after: Int?
    @Flag(help: "Print all of them as JUnit XML, for other tools.") var junit = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try await server.connect(to: integration.address)
            if junit {
                let query = attempt.map { "?attempt=\($0)" } ?? ""
                return Output.print(try await connection.get(integration.path + "/tests.xml" + query))
            }
            if json { return Output.print(try await connection.get(path(after: after.map(String.init)))) }
            if grid { return try await printGrid(connection) }
            var rows: [[Cell]] = []
            try await Self.eachPage(of: API.TestCase.self, connection, path) { tests in
                rows += tests.map { test in
                    [
                        .result(test.outcome), Cell(test.configuration), Cell(Self.fullName(test.suite, test.name)),
                        Cell(test.duration.map(Output.duration) ?? ""),
                        Cell(test.message?.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""),
                    ]
                }
            }
            if rows.isEmpty {
                return Output.print(
                    failing
                        ? "No test of \(integration.text) fails.\n"
                        : "\(integration.text) has no report that lists its tests.\n")
            }
            Output.print(
                server.terminal.table(["OUTCOME", "CONFIGURATION", "TEST", "DURATION", "MESSAGE"], rows))
        }
    }

    private func path(after: String?) -> String {
        var path = integration.path + (grid ? "/tests/grid?all=\(all)" : "/tests?failing=\(failing)") + "&limit=5000"
        if let attempt { path += "&attempt=\(attempt)" }
        if let after { path += "&after=\(PercentEncoding.encode(after))" }
        return path
    }

    private func printGrid(_ connection: Connection) async throws {
        var (heads, rows): ([String], [[Cell]]) = ([], [])
        var (next, total): (String?, Int) = (nil, 0)
        repeat {
            let answer = try await connection.get(path(after: next), as: API.TestGrid.self)
            heads = ["TEST", "SUMMARY"] + answer.configurations
            rows += answer.items.map { test in
                [Cell(Self.fullName(test.suite, test.name)), Cell(test.says)]
                    + answer.configurations.map { .result((test.outcomes[$0] ?? nil) ?? "not run") }
            }
            (next, total) = (answer.next, answer.total)
        } while next != nil
        if rows.isEmpty {
            return Output.print(
                total == 0
                    ? "No test of \(integration.text) ran.\n"
                    : "All \(total.counting("test")) passed in every configuration.\n")
        }
        Output.print(server.terminal.table(heads, rows))
    }

    static func fullName(_ suite: String, _ name: String) -> String { suite.isEmpty ? name : "\(suite)/\(name)" }

    private static func eachPage<Item: Codable & Hashable & Sendable>(
        of type: Item.Type, _ connection: Connection, _ path: (String?) -> String, _ body: ([Item]) -> Void
    ) async throws {
        var next: String?
        repeat {
            let page = try await connection.get(path(next), as: API.List<Item>.self)
            body(page.items)
            next = page.next
        } while next != nil
    }
}

/// The command `martlet test BOT SUITE/NAME`.
struct TestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Shows one test's life: outcomes, durations, last failures.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "The bot's name, or the address of one of its pages.") var bot: BotArgument
    @Argument(
        help: "As tests are listed, such as KitTests.ParserTests/parsesAHeader(), or a part of it that one test has.")
    var test: String
    @Option(help: "Only integrations of this branch.") var branch: String?
    @Option(help: "Only this configuration.") var configuration: String?
    @Option(help: "How many integrations, at most 200.") var limit = 20
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try await server.connect(to: bot.address)
            let name = try await wholeName(connection)
            var path =
                "/api/v1/bots/\(PercentEncoding.encode(bot.name))/tests/history?name=\(PercentEncoding.encode(name))&limit=\(limit)"
            if let branch { path += "&branch=\(PercentEncoding.encode(branch))" }
            if let configuration { path += "&configuration=\(PercentEncoding.encode(configuration))" }
            if json { return Output.print(try await connection.get(path)) }
            Output.print(try await connection.get(path, as: API.TestHistory.self).text)
        }
    }

    /// Returns the full name of the requested test.
    /// - Throws: `Failure` if several tests match.
    private func wholeName(_ connection: Connection) async throws -> String {
        let list = try await connection.get(
            "/api/v1/bots/\(PercentEncoding.encode(bot.name))/tests?query=\(PercentEncoding.encode(test))&limit=20",
            as: API.NamedTests.self)
        let names = list.items.map { Tests.fullName($0.suite, $0.name) }
        if names.contains(test) || names.isEmpty { return test }
        // A full name can also be a part of more names than the listed ones.
        if list.next != nil, try await isName(test, connection) { return test }
        guard names.count == 1 else {
            throw Failure(
                .usage,
                "\(test) is a part of several tests' names of \(bot.name): \(names.joined(separator: ", "))"
                    + (list.next == nil ? "" : " and more") + "; write the whole name of one")
        }
        return names[0]
    }

    private func isName(_ test: String, _ connection: Connection) async throws -> Bool {
        let path =
            "/api/v1/bots/\(PercentEncoding.encode(bot.name))/tests/history?name=\(PercentEncoding.encode(test))&limit=1"
        do { return try await !connection.get(path).isEmpty } catch let failure as Failure
            where failure.status == .notFound
        {
            return false
        }
    }
}

/// The command `martlet flaky BOT`.
struct Flaky: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flaky",
        abstract: "Lists a bot's tests that failed and passed on one commit, and those that go back and forth.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "The bot's name, or the address of one of its pages.") var bot: BotArgument
    @Option(help: "Only integrations of this branch.") var branch: String?
    @Option(help: "How many integrations are looked at, at most 200.") var integrations = 100
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try await server.connect(to: bot.address)
            var path = "/api/v1/bots/\(PercentEncoding.encode(bot.name))/tests/flaky?integrations=\(integrations)"
            if let branch { path += "&branch=\(PercentEncoding.encode(branch))" }
            if json { return Output.print(try await connection.get(path)) }
            let answer = try await connection.get(path, as: API.FlakyTests.self)
            if answer.items.isEmpty {
                return Output.print(
                    answer.integrations == 0
                        ? "No integration of \(bot.name) has a report that lists its tests.\n"
                        : "No test was flaky in \(answer.integrations.counting("integration")).\n")
            }
            Output.print(
                server.terminal.table(
                    ["FLAKY", "CHANGES", "TEST", "CONFIGURATIONS", "LATEST"],
                    answer.items.map { test in
                        [
                            Cell("flaky in \(test.flaky) of \(answer.integrations)"),
                            Cell("changed \(test.changes.counting("time"))"),
                            Cell(Tests.fullName(test.suite, test.name)),
                            Cell(test.configurations.joined(separator: ", ")), Cell(test.latest),
                        ]
                    }))
        }
    }
}
