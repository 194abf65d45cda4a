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
            if list.items.isEmpty { Output.print("no bots yet: put a file into bots/ (martlet init URL writes one)\n") }
            Output.print(
                Output.table(
                    list.items.map { bot in
                        let latest = bot.latest
                        let without = bot.empty ? "the repository is empty" : "no integration yet"
                        return [
                            bot.name, latest?.id ?? "–", latest?.shortRef ?? "",
                            latest?.outcome ?? (bot.lookError == nil ? without : "the repository needs attention"),
                            latest?.summary?.sentence ?? "",
                        ]
                    }))
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
            "Shows one bot; --resolved prints its file with every default, --plan what the next push of each branch would run."
    )

    @OptionGroup var server: ServerOptions
    @Argument(help: "The bot's name.") var name: String
    @Flag(help: "Print the bot file with every default.") var resolved = false
    @Flag(help: "Print what the next push of each watched branch would run, archive and publish.") var plan = false
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try server.connect()
            let path = "/api/v1/bots/\(PercentEncoding.encode(name))"
            if resolved { return Output.print(try await connection.get(path + "/resolved")) }
            if plan {
                guard !json else { return Output.print(try await connection.get(path + "/plan")) }
                return Output.print(try await connection.get(path + "/plan", as: API.Plan.self).text)
            }
            if json { return Output.print(try await connection.get(path)) }
            let bot = try await connection.get(path, as: API.Bot.self)
            Output.print(Output.visible("\(bot.name)  \(bot.repository)") + "\n")
            if let remark = bot.remark { Output.print("\(Output.visible(remark))\n") }
            if let schedule = bot.schedule {
                let next = bot.nextScheduled.map { "next at \($0)" } ?? "never"
                Output.print("schedule: \(Output.visible(schedule)), \(next)\n")
            }
            let list = try await connection.get(path + "/integrations?limit=10", as: API.List<API.Integration>.self)
            Output.print(Integrations.table(list.items))
        }
    }
}

/// The command `martlet webhook BOT`.
struct Webhook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook", abstract: "Prints the URL to paste into a forge, and what to choose there.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "The bot's name.") var bot: String
    @Option(
        help:
            "Who sends: github, gitlab, gitea, forgejo, gogs, bitbucket, bitbucket-server; push is the signed POST of hooks/post-receive."
    ) var forge = "push"

    func run() async throws {
        try await Failure.exiting {
            guard let forge = Forge(rawValue: forge) else {
                let names = Forge.allCases.map(\.rawValue).joined(separator: ", ")
                throw Failure(.no, "there is no forge \(Output.visible(forge)) here; --forge takes \(names)")
            }
            Output.print(
                try await server.connect().get(
                    "/api/v1/bots/\(PercentEncoding.encode(bot))/webhook?forge=\(forge.rawValue)"))
        }
    }
}
