import API
import ArgumentParser
import Encodings
import Foundation

/// The command `martlet integrations [BOT]`.
struct Integrations: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "integrations", abstract: "Lists integrations, newest first.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "Only this bot's.") var bot: BotArgument?
    @Option(help: "queued, running or completed.", completion: .list(["queued", "running", "completed"]))
    var state: String?
    @Option(help: "How many, at most 200.") var limit = 20
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            var path =
                bot.map { "/api/v1/bots/\(PercentEncoding.encode($0.name))/integrations" } ?? "/api/v1/integrations"
            path += "?limit=\(limit)" + (state.map { "&state=\(PercentEncoding.encode($0))" } ?? "")
            let connection = try await server.connect(to: bot?.address)
            if json { return Output.print(try await connection.get(path)) }
            let items = try await connection.get(path, as: API.List<API.Integration>.self).items
            Output.print(Self.table(items, on: server.terminal))
        }
    }

    static func table(_ items: [API.Integration], on terminal: Terminal) -> String {
        terminal.table(
            ["INTEGRATION", "BRANCH", "COMMIT", "RESULT", "COUNTS", "SUBJECT"],
            items.map { item in
                [
                    Cell(item.id), Cell(item.shortRef), Cell(String(item.commit.prefix(8))), .result(item.outcome),
                    Cell(item.summary?.sentence ?? item.reason ?? ""), Cell(item.subject ?? ""),
                ]
            })
    }
}

/// The command `martlet integrate BOT`.
struct Integrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "integrate", abstract: "Queues an integration; its number is printed once it is stored.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "The bot's name, or the address of one of its pages.") var bot: BotArgument
    @Option(help: "A branch, a tag or a commit; the default branch's tip when left out.") var commit: String?
    @Flag(help: "Empty the workspace first.") var clean = false
    @Flag(help: "Wait for its end; the exit status is 0 only if it is green.") var wait = false
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try await server.connect(to: bot.address)
            let body = API.IntegrationRequest(commit: commit, clean: clean)
            let path = "/api/v1/bots/\(PercentEncoding.encode(bot.name))/integrations"
            let queued = try await connection.post(path, body, as: API.Integration.self)
            if !json {
                let line = "\(queued.id) queued: \(queued.shortRef) \(queued.commit.prefix(8))"
                Output.print("\(Output.visible(line))\n")
                await Waiting.printPage(of: queued, connection)
            }
            // Its pushes may start no integration, such as where `branches:` matches no branch. Without an answer there is no remark.
            let state = try? await connection.get("/api/v1/bots/\(PercentEncoding.encode(bot.name))", as: API.Bot.self)
            if let remark = state?.remark { Output.remark(remark) }
            guard wait else {
                if json { Output.print(try await connection.get("\(path)/\(queued.number)")) }
                return
            }
            try await Waiting.verdict(of: queued, connection, json ? nil : server.terminal)
        }
    }
}

/// The command `martlet cancel BOT#N`.
struct Cancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Cancels a queued or running integration.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "Such as kit#41.") var integration: IntegrationArgument
    @Option(help: "Seconds between SIGTERM and SIGKILL of what runs, 0 to 600; 10 when left out.") var grace: Double?

    func run() async throws {
        try await Failure.exiting {
            try await server.connect(to: integration.address).post(
                integration.path + "/cancel", API.CancelRequest(grace: grace))
            Output.print("\(integration.text) is being canceled\n")
        }
    }
}

/// The command `martlet rerun BOT#N`.
struct Rerun: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rerun",
        abstract: "Runs a completed integration again: its recorded recipe, with attempts beside those it has.",
        discussion:
            "With --machine-failures and --since it runs every integration again that ended as internal-error or checkout-error."
    )

    @OptionGroup var server: ServerOptions
    @Argument(help: "Such as kit#41.") var integration: IntegrationArgument?
    @Flag(help: "Only the configurations that failed.") var failed = false
    @Option(
        help:
            "Only these tests, as the test tool reads it: swift test --filter, pytest -k, go test -run, and so on; the others keep their outcome."
    )
    var tests: String?
    @Option(name: .customLong("test"), help: "Only this test, by its full name; can be repeated.") var names: [String] =
        []
    @Flag(help: "Only the triggers after the jobs.") var triggers = false
    @Flag(help: "All integrations that failed by the machine's or the repository's fault, at most 500.")
    var machineFailures = false
    @Option(help: "With --machine-failures: those that ended since then, 2026-12-31T12:00:00Z, or 6h or 2d ago.")
    var since: String?
    @Option(help: "With --machine-failures: only this bot's.") var bot: String?
    @Flag(help: "With --machine-failures: only say which.") var dryRun = false
    @Flag(help: "Wait for its end; the exit status is 0 only if it is green.") var wait = false
    @Flag(help: "Print the daemon's JSON.") var json = false

    func validate() throws {
        if machineFailures {
            guard since != nil else { throw ValidationError("--machine-failures needs --since TIME") }
            guard integration == nil, !failed, tests == nil, names.isEmpty, !triggers, !wait else {
                throw ValidationError("--machine-failures takes only --since, --bot, --dry-run and --json")
            }
        } else {
            guard integration != nil else { throw ValidationError("name an integration, such as kit#41") }
            if since != nil || bot != nil || dryRun {
                throw ValidationError("--since, --bot and --dry-run belong to --machine-failures")
            }
        }
    }

    func run() async throws {
        try await Failure.exiting {
            guard let integration else {
                return try await MachineFailures.rerun(
                    since: since ?? "", bot: bot, isDry: dryRun, json: json, try server.connect())
            }
            let connection = try await server.connect(to: integration.address)
            let body = API.RerunRequest(
                failed: failed, tests: tests, names: names.isEmpty ? nil : names, triggers: triggers)
            let answer = try await connection.post(integration.path + "/rerun", body)
            let queued = try Connection.decode(answer, as: API.QueuedRerun.self)
            if !json {
                let line = "\(queued.id) queued, run \(queued.run): \(queued.shortRef) \(queued.commit.prefix(8))"
                Output.print("\(Output.visible(line))\n")
                await Waiting.printPage(of: queued.detail.integration, connection)
                for note in queued.notes { Output.print("\(Output.visible(note))\n") }
            }
            guard wait else { return json ? Output.print(answer) : () }
            try await Waiting.verdict(of: queued.detail.integration, connection, json ? nil : server.terminal)
        }
    }
}
