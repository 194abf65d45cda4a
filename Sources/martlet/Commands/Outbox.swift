import API
import ArgumentParser
import Encodings

/// The command `martlet outbox`.
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract:
            "Lists the messages to forges and others, the newest first; --retry sends one that was given up again.")

    @OptionGroup var server: ServerOptions
    @Option(help: "Only those: waiting, sending, sent, superseded, unneeded, given-up.") var state: String?
    @Option(help: "The most lines, at most 200.") var limit = 50
    @Option(help: "The number of a message that was given up.") var retry: Int?
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try server.connect()
            if let retry {
                let path = "/api/v1/outbox/\(retry)/retry"
                if json { return Output.print(try await connection.post(path)) }
                var message = try await connection.post(path, as: API.OutboxMessage.self)
                // The result of the previous try would look like that of this one.
                (message.note, message.next) = (nil, nil)
                return Output.print("It is tried again: " + Self.lines(of: message))
            }
            let path =
                "/api/v1/outbox?limit=\(limit)" + (state.map { "&state=\(PercentEncoding.encode($0))" } ?? "")
            if json { return Output.print(try await connection.get(path)) }
            let messages = try await connection.get(path, as: API.List<API.OutboxMessage>.self).items
            Output.print(messages.isEmpty ? "There is no message.\n" : messages.map(Self.lines).joined())
        }
    }

    /// Returns a line that describes a message, and one with the result of the last try.
    private static func lines(of message: API.OutboxMessage) -> String {
        let what = (message.integration ?? message.bot) + (message.job.map { "/\($0)" } ?? "")
        let tries = message.tries > 1 ? ", \(message.tries) tries" : ""
        let next = message.next.map { message.tries > 0 ? ", next at \($0)" : "" } ?? ""
        let line =
            "\(message.id)  \(message.state)\(tries)\(next)  \(what) \(message.about)  \(message.kind) "
            + message.destination
        let note = message.state == "superseded" ? nil : message.note
        let retry =
            message.state == "given-up" ? "    once the cause is removed: martlet outbox --retry \(message.id)\n" : ""
        return Output.visible(line) + "\n" + (note.map { "    " + Output.visible($0) + "\n" } ?? "") + retry
    }
}
