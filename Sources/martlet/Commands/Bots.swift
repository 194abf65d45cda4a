import API
import ArgumentParser
import Encodings
import Forges
import Integrations

/// The command `martlet bots`.
struct Bots: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bots", abstract: "Lists the bots with their latest integration.")

    @OptionGroup var server: ServerOptions
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try server.connect()
            if json { return Output.print(try await connection.get("/api/v1/bots")) }
            let list = try await connection.get("/api/v1/bots", as: API.BotList.self)
            if list.items.isEmpty {
                Output.print("There is no bot yet. `martlet init --write URL` writes a bot file.\n")
            }
            Output.print(
                server.terminal.table(
                    ["BOT", "LATEST", "BRANCH", "RESULT", "COUNTS"],
                    list.items.map { bot in
                        let latest = bot.latest
                        let without = bot.empty ? "the repository is empty" : "no integration yet"
                        return [
                            Cell(bot.name), Cell(latest?.id ?? "–"), Cell(latest?.shortRef ?? ""),
                            .result(
                                latest?.outcome ?? (bot.lookError == nil ? without : "the repository needs attention")),
                            Cell(latest?.summary?.sentence ?? ""),
                        ]
                    }))
            for pause in list.pauses + list.items.compactMap(\.pause) { Output.print("\(pause.sentence)\n") }
            for bot in list.items {
                if let remark = bot.remark { Output.print(Output.visible("\(bot.name): \(remark)") + "\n") }
            }
            for problem in list.problems { Output.print("\(Output.visible(problem))\n") }
        }
    }
}

/// The command `martlet bot NAME`.
struct BotCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bot",
        abstract:
            "Shows one bot; --resolved prints its file with every default, --plan what the next push of each branch would run.",
        discussion: """
            --delete and --rename are for bots whose file was moved out of the directory of bot files. --delete alone says \
            what would go and what stays; with --yes it is done. After --rename, put the file back under the new name.
            """)

    @OptionGroup var server: ServerOptions
    @Argument(help: "The bot's name, or the address of one of its pages.") var bot: BotArgument
    @Flag(help: "Print the bot file with every default.") var resolved = false
    @Flag(help: "Print what the next push of each watched branch would run, archive and publish.") var plan = false
    @Flag(help: "Say what deleting the bot removes and keeps; with --yes delete it.") var delete = false
    @Flag(help: "Delete, in place of only saying what would go.") var yes = false
    @Option(help: "Give the bot this name, with its history.") var rename: String?
    @Flag(help: "Remove its workspaces that no job uses, with the products of builds in them.") var clean = false
    @Flag(help: "Print the daemon's JSON.") var json = false

    func validate() throws {
        let chosen = [resolved, plan, delete, rename != nil, clean].count { $0 }
        if chosen > 1 { throw ValidationError("choose one of --resolved, --plan, --delete, --rename and --clean") }
        if yes, !delete { throw ValidationError("--yes belongs to --delete") }
    }

    func run() async throws {
        try await Failure.exiting {
            let connection = try await server.connect(to: bot.address)
            let path = "/api/v1/bots/\(PercentEncoding.encode(bot.name))"
            if delete { return try await BotChanges.delete(path, isDry: !yes, json: json, connection) }
            if let rename { return try await BotChanges.rename(path, to: rename, json: json, connection) }
            if clean { return try await BotChanges.clean(path, json: json, connection) }
            if resolved { return Output.print(try await connection.get(path + "/resolved")) }
            if plan {
                guard !json else { return Output.print(try await connection.get(path + "/plan")) }
                return Output.print(try await connection.get(path + "/plan", as: API.Plan.self).text)
            }
            if json { return Output.print(try await connection.get(path)) }
            let shown = try await connection.get(path, as: API.Bot.self)
            Output.print(Output.visible("\(shown.name)  \(shown.repository)") + "\n")
            if let remark = shown.remark { Output.print("\(Output.visible(remark))\n") }
            if let pause = shown.pause { Output.print("\(pause.sentence)\n") }
            if let schedule = shown.schedule {
                let next = shown.nextScheduled.map { "next at \($0)" } ?? "never"
                Output.print("schedule: \(Output.visible(schedule)), \(next)\n")
            }
            let list = try await connection.get(path + "/integrations?limit=10", as: API.List<API.Integration>.self)
            Output.print(Integrations.table(list.items, on: server.terminal))
        }
    }
}

/// The command `martlet webhook BOT`.
struct Webhook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook", abstract: "Prints the URL to paste into a forge, and what to choose there.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "The bot's name, or the address of one of its pages.") var bot: BotArgument
    @Option(
        help:
            "Who sends: github, gitlab, gitea, forgejo, gogs, bitbucket, bitbucket-server; push is the signed POST of hooks/post-receive.",
        completion: .list(Forge.allCases.map(\.rawValue))
    ) var forge = "push"

    func run() async throws {
        try await Failure.exiting {
            guard let forge = Forge(rawValue: forge) else {
                let names = Forge.allCases.map(\.rawValue).joined(separator: ", ")
                throw Failure(.no, "--forge \(Output.visible(forge)) is unknown; write one of \(names)")
            }
            Output.print(
                try await server.connect(to: bot.address).get(
                    "/api/v1/bots/\(PercentEncoding.encode(bot.name))/webhook?forge=\(forge.rawValue)"))
        }
    }
}
