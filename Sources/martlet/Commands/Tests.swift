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
            let connection = try server.connect()
            if junit {
                let query = attempt.map { "?attempt=\($0)" } ?? ""
                return Output.print(try await connection.get(integration.path + "/tests.xml" + query))
            }
            if json { return Output.print(try await connection.get(path(after: after.map(String.init)))) }
            if grid { return try await printGrid(connection) }
            var rows: [[String]] = []
            try await Self.eachPage(of: API.TestCase.self, connection, path) { tests in
                rows += tests.map { test in
                    [
                        test.outcome, test.configuration, Self.fullName(test.suite, test.name),
                        test.duration.map(Output.duration) ?? "",
                        test.message?.split(whereSeparator: \.isNewline).first.map(String.init) ?? "",
                    ]
                }
            }
            if rows.isEmpty {
                return Output.print(
                    failing ? "no test of it fails\n" : "no report of \(integration.text) tells of single tests\n")
            }
            Output.print(Output.table(rows))
        }
    }

    private func path(after: String?) -> String {
        var path = integration.path + (grid ? "/tests/grid?all=\(all)" : "/tests?failing=\(failing)") + "&limit=5000"
        if let attempt { path += "&attempt=\(attempt)" }
        if let after { path += "&after=\(PercentEncoding.encode(after))" }
        return path
    }

    private func printGrid(_ connection: Connection) async throws {
        var rows: [[String]] = []
        var (next, total): (String?, Int) = (nil, 0)
        repeat {
            let answer = try await connection.get(path(after: next), as: API.TestGrid.self)
            if rows.isEmpty { rows.append(["test", "says"] + answer.configurations) }
            rows += answer.items.map { test in
                [Self.fullName(test.suite, test.name), test.says]
                    + answer.configurations.map { (test.outcomes[$0] ?? nil) ?? "not run" }
            }
            (next, total) = (answer.next, answer.total)
        } while next != nil
        if rows.count == 1 {
            return Output.print(
                total == 0 ? "no test ran\n" : "all \(total.counting("test")) passed in every configuration\n")
        }
        Output.print(Output.table(rows))
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
    @Argument(help: "The bot's name.") var bot: String
    @Argument(
        help: "As tests are listed, such as KitTests.ParserTests/parsesAHeader(), or a part of it that one test has.")
    var test: String
    @Option(help: "Only integrations of this branch.") var branch: String?
    @Option(help: "Only this configuration.") var configuration: String?
    @Option(help: "How many integrations, at most 200.") var limit = 20
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try server.connect()
            let name = try await wholeName(connection)
            var path =
                "/api/v1/bots/\(PercentEncoding.encode(bot))/tests/history?name=\(PercentEncoding.encode(name))&limit=\(limit)"
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
            "/api/v1/bots/\(PercentEncoding.encode(bot))/tests?query=\(PercentEncoding.encode(test))&limit=20",
            as: API.NamedTests.self)
        let names = list.items.map { Tests.fullName($0.suite, $0.name) }
        if names.contains(test) || names.isEmpty { return test }
        // A full name can also be a part of more names than the listed ones.
        if list.next != nil, try await isName(test, connection) { return test }
        guard names.count == 1 else {
            throw Failure(
                .usage,
                "several tests of \(bot) have \(test) in their name: \(names.joined(separator: ", "))"
                    + (list.next == nil ? "" : " and more"))
        }
        return names[0]
    }

    private func isName(_ test: String, _ connection: Connection) async throws -> Bool {
        let path =
            "/api/v1/bots/\(PercentEncoding.encode(bot))/tests/history?name=\(PercentEncoding.encode(test))&limit=1"
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
    @Argument(help: "The bot's name.") var bot: String
    @Option(help: "Only integrations of this branch.") var branch: String?
    @Option(help: "How many integrations are looked at, at most 200.") var integrations = 100
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try server.connect()
            var path = "/api/v1/bots/\(PercentEncoding.encode(bot))/tests/flaky?integrations=\(integrations)"
            if let branch { path += "&branch=\(PercentEncoding.encode(branch))" }
            if json { return Output.print(try await connection.get(path)) }
            let answer = try await connection.get(path, as: API.FlakyTests.self)
            if answer.items.isEmpty {
                return Output.print(
                    answer.integrations == 0
                        ? "no integration of \(bot) has a report that tells of single tests\n"
                        : "no flaky test in \(answer.integrations.counting("integration"))\n")
            }
            Output.print(
                Output.table(
                    answer.items.map { test in
                        [
                            "flaky in \(test.flaky) of \(answer.integrations)",
                            "changed \(test.changes.counting("time"))",
                            Tests.fullName(test.suite, test.name), test.configurations.joined(separator: ", "),
                            test.latest,
                        ]
                    }))
        }
    }
}
