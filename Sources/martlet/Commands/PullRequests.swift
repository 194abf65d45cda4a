import API
import ArgumentParser
import Encodings
import Model

/// The command `martlet pull-requests BOT`.
struct PullRequests: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pull-requests",
        abstract: "Lists a bot's open pull requests: whose they are, and what became of each.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "The bot's name, or the address of one of its pages.") var bot: BotArgument
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try await server.connect(to: bot.address)
            let path = "/api/v1/bots/\(PercentEncoding.encode(bot.name))/pull-requests"
            if json { return Output.print(try await connection.get(path)) }
            let pulls = try await connection.get(path, as: API.List<API.PullRequest>.self).items
            Output.print(
                server.terminal.table(
                    ["PULL REQUEST", "HEAD", "FROM", "STATE", "INTEGRATION", "REASON"],
                    pulls.map { pull in
                        [
                            Cell("\(bot.name)!\(pull.number)"), Cell(String((pull.head ?? "").prefix(8))),
                            Cell(pull.trusted ? "trusted" : "fork"), .result(pull.state), Cell(pull.integration ?? ""),
                            Cell(pull.reason ?? ""),
                        ]
                    }))
        }
    }
}

/// The command `martlet approve 'BOT!N' --commit ID`.
struct Approve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve", abstract: "Lets one head of a fork's pull request run; a newer one waits again.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "Such as kit!12.") var pullRequest: PullRequestArgument
    @Option(help: "The whole id of the head that you have looked at.") var commit: String
    @Flag(help: "Wait for its end; the exit status is 0 only if it is green.") var wait = false
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try server.connect()
            let path = "/api/v1/bots/\(pullRequest.bot)/pull-requests/\(pullRequest.number)/approve"
            let answer = try await connection.post(path, API.ApprovalRequest(commit: commit))
            let queued = try Connection.decode(answer, as: API.Integration.self)
            if !json {
                Output.print(Output.visible("\(pullRequest.text) approved at \(commit.prefix(8)): \(queued.id)") + "\n")
                await Waiting.printPage(of: queued, connection)
            }
            guard wait else {
                if json { Output.print(answer) }
                return
            }
            try await Waiting.verdict(of: queued, connection, json ? nil : server.terminal)
        }
    }
}
