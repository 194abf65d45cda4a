import API
import ArgumentParser
import Foundation

/// The command `martlet queue`.
struct Queue: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue", abstract: "Shows what runs and what waits, in order, and why.")

    @OptionGroup var server: ServerOptions
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try server.connect()
            if json { return Output.print(try await connection.get("/api/v1/queue")) }
            Output.print(Self.text(try await connection.get("/api/v1/queue", as: API.Queue.self)))
        }
    }

    /// Returns the table: integration, branch, state or place, start, end and reason.
    static func text(_ queue: API.Queue) -> String {
        let pauses = queue.pauses.map { "\($0.sentence)\n" }.joined()
        guard !(queue.running + queue.waiting).isEmpty else { return pauses + "nothing runs, and nothing waits\n" }
        var rows = [["INTEGRATION", "BRANCH", "STATE", "STARTS", "ENDS", "WHY"]]
        rows += queue.running.map { row($0, state: $0.integration.step, start: "began \(clock($0.start) ?? "")") }
        rows += queue.waiting.enumerated().map {
            row($1, state: "place \($0 + 1)", start: clock($1.start) ?? "unknown")
        }
        let more = queue.more > 0 ? "\(queue.more) more wait\n" : ""
        return pauses + Output.table(rows) + more
    }

    private static func row(_ item: API.QueuedIntegration, state: String, start: String) -> [String] {
        [
            item.integration.id, item.integration.shortRef, state, start, clock(item.end) ?? "unknown",
            item.reason ?? "",
        ]
    }

    /// Returns a moment as `2026-03-01 12:00:00`, in UTC as in all commands.
    private static func clock(_ time: API.Time?) -> String? {
        time.map { String($0.text.prefix(19)).replacingOccurrences(of: "T", with: " ") }
    }
}
