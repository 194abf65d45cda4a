import API
import ArgumentParser
import Encodings

/// The command `martlet audit`.
struct Audit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Lists who did what, from where and when, the newest first.")

    @OptionGroup var server: ServerOptions
    @Option(help: "Only what is about this bot.") var bot: String?
    @Option(help: "Only this action, such as token-created.") var action: String?
    @Option(help: "Only what this person did.") var actor: String?
    @Option(help: "The most lines, at most 200.") var limit = 50
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let filters = [("bot", bot), ("action", action), ("actor", actor)].compactMap { key, value in
                value.map { "&\(key)=\(PercentEncoding.encode($0))" }
            }
            let path = "/api/v1/audit?limit=\(limit)" + filters.joined()
            let connection = try server.connect()
            if json { return Output.print(try await connection.get(path)) }
            let rows = try await connection.get(path, as: API.List<API.AuditRow>.self).items
            guard !rows.isEmpty else { return Output.print("The audit has no such row.\n") }
            Output.print(
                server.terminal.table(
                    ["WHEN", "WHO", "FROM", "ACTION", "WHAT"],
                    rows.map { row in
                        [
                            Cell(row.at.text), Cell(row.actor), Cell(row.address ?? "this machine", .faint),
                            Cell(row.action), Cell(row.subject + (row.detail.map { ": \($0)" } ?? "")),
                        ]
                    }))
        }
    }
}
