import API
import ArgumentParser
import Foundation
import Model

/// What `martlet bot NAME` does to a bot.
enum BotChanges {
    static func delete(_ path: String, isDry: Bool, json: Bool, _ connection: Connection) async throws {
        let answer = try await connection.post(path + "/delete", API.BotDeletionRequest(dryRun: isDry))
        if json { return Output.print(answer) }
        Output.print(text(of: try Connection.decode(answer, as: API.BotDeletion.self)))
    }

    /// Returns what goes and what stays.
    static func text(of deletion: API.BotDeletion) -> String {
        let verb = deletion.done ? "removed" : "goes"
        var rows = [
            [
                verb, deletion.integrations.counting("integration"), ByteCount(deletion.bytes).description,
                Int(clamping: deletion.files).counting("file"),
            ],
            [verb, "workspaces", ByteCount(deletion.workspaceBytes).description],
        ]
        if deletion.silences > 0 { rows.append([verb, deletion.silences.counting("mute")]) }
        for kept in deletion.keeps {
            rows.append([
                "stays", "\(kept.versions.counting("version")) of \(kept.product)", "published versions always stay",
            ])
        }
        let end =
            deletion.refusal.map { "\(deletion.bot) cannot be deleted now: \($0)\n" }
            ?? (deletion.done
                ? "\(deletion.bot) is deleted; its files are removed in the background\n"
                : "nothing was deleted; `martlet bot \(deletion.bot) --delete --yes` deletes it\n")
        return Output.table(rows) + Output.visible(String(end.dropLast())) + "\n"
    }

    static func rename(_ path: String, to name: String, json: Bool, _ connection: Connection) async throws {
        let answer = try await connection.post(path + "/rename", API.BotRenameRequest(name: name))
        if json { return Output.print(answer) }
        let bot = try Connection.decode(answer, as: API.Bot.self)
        Output.print(
            Output.visible(
                "the bot is \(bot.name) now; put its file back as \(bot.name).yml, with `product: \(bot.product)` if it publishes under that name"
            ) + "\n")
    }

    static func clean(_ path: String, json: Bool, _ connection: Connection) async throws {
        let answer = try await connection.post(path + "/clean")
        if json { return Output.print(answer) }
        let cleaning = try Connection.decode(answer, as: API.BotCleaning.self)
        let busy = cleaning.busy > 0 ? "; \(cleaning.busy.counting("workspace")) in use stay" : ""
        Output.print("removed \(cleaning.workspaces.counting("workspace")), \(ByteCount(cleaning.bytes))\(busy)\n")
    }
}

/// The command `martlet disk`.
struct DiskCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disk", abstract: "Measures the space of the state directory, by kind and bot, the largest first.")

    @OptionGroup var server: ServerOptions
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try server.connect()
            if json { return Output.print(try await connection.get("/api/v1/disk")) }
            let report = try await connection.get("/api/v1/disk", as: API.DiskReport.self)
            let rows = report.items.map { part in
                [Cell(part.kind), Cell(part.name), Cell(ByteCount(part.bytes).description), Cell("\(part.files)")]
            }
            Output.print(server.terminal.table(["KIND", "OF", "SPACE", "FILES"], rows))
            let free = report.free.map { ", \(ByteCount($0)) free" } ?? ""
            Output.print("\(ByteCount(report.bytes)) in \(Int(clamping: report.files).counting("file"))\(free)\n")
        }
    }
}

/// `martlet rerun --machine-failures`.
enum MachineFailures {
    static func rerun(
        since text: String, bot: String?, isDry: Bool, json: Bool, _ connection: Connection
    ) async throws {
        guard let since = time(text, now: Date()) else {
            throw Failure(
                .usage, "--since is a time such as 2026-12-31T12:00:00Z, or a duration before now such as 6h or 2d")
        }
        let answer = try await connection.post(
            "/api/v1/reruns", API.MachineRerunRequest(since: since, bot: bot, dryRun: isDry))
        if json { return Output.print(answer) }
        let reruns = try Connection.decode(answer, as: API.MachineReruns.self)
        let rows = reruns.items.map { item in
            [
                item.integration, item.verdict,
                item.queued ? "queued again" : item.refusal.map { "not queued: \($0)" } ?? "would be queued again",
            ]
        }
        let none = rows.isEmpty ? "nothing failed by the machine's fault since \(since)\n" : ""
        let more = reruns.omitted > 0 ? "\(reruns.omitted.counting("integration")) more; run the command again\n" : ""
        Output.print(Output.table(rows) + Output.visible(String(none.dropLast())) + (none.isEmpty ? "" : "\n") + more)
    }

    /// Returns a time as RFC 3339.
    /// - Parameter text: A time, or a number and h or d before now.
    /// - Returns: `nil` for another text.
    static func time(_ text: String, now: Date) -> String? {
        if let date = try? Date(text, strategy: .iso8601) { return date.ISO8601Format() }
        let units: [Character: Double] = ["m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let number = Int(text.dropLast()),
            (1...100_000).contains(number)
        else { return nil }
        return now.addingTimeInterval(-unit * Double(number)).ISO8601Format()
    }
}
