import API
import ArgumentParser
import Encodings
import Foundation

/// The command `martlet mute BOT#N FINGERPRINT`.
struct Mute: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mute",
        abstract: "Mutes an issue in all branches of its bot: a warning no longer counts, a failure stays red.",
        aliases: ["silence"])

    @OptionGroup var server: ServerOptions
    @Argument(help: "Such as kit#41, or kit for the latest of a branch or tag.") var integration: IntegrationArgument
    @Argument(help: "At least 6 digits of the issue's fingerprint, which `martlet issues` prints.")
    var fingerprint: String
    @Option(help: "Why, for everybody to read.") var reason: String
    @Option(help: "When it ends: 2026-12-31, or 2026-12-31T12:00:00Z.") var until: String?
    @Option(name: .customLong("for"), help: "How long it lasts: 12h, 30d, 8w.") var lasting: String?
    @Flag(help: "Print the daemon's JSON.") var json = false

    func validate() throws {
        if until != nil, lasting != nil { throw ValidationError("write --until or --for, not both") }
        if let lasting, Self.seconds(lasting) == nil {
            throw ValidationError("--for is a number and h, d or w, such as 30d")
        }
    }

    func run() async throws {
        try await Failure.exiting {
            let body = API.SilenceRequest(
                reason: reason,
                // A date means the beginning of that day in UTC.
                until: until.map { $0.utf8.count == 10 ? $0 + "T00:00:00Z" : $0 },
                for: lasting.flatMap(Self.seconds), person: NSUserName())
            let connection = try await server.connect(to: integration.address)
            let path = integration.path + "/issues/\(PercentEncoding.encode(fingerprint))/silence"
            let answer = try await connection.post(path, body)
            if json { return Output.print(answer) }
            Output.print(
                try Connection.decode(answer, as: API.Issue.self).text(of: integration.bot, on: server.terminal))
        }
    }

    /// Parses a duration such as `12h`, `30d` or `8w`.
    /// - Returns: The duration in seconds; `nil` for another text.
    static func seconds(_ text: String) -> Double? {
        let units: [Character: Double] = ["h": 3600, "d": 86_400, "w": 7 * 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let number = UInt32(text.dropLast()), number > 0 else {
            return nil
        }
        return Double(number) * unit
    }
}

/// The command `martlet muted BOT`.
struct Muted: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "muted",
        abstract: "Lists a bot's muted issues, the newest first: which issue, why, by whom, until when.",
        aliases: ["silences"])

    @OptionGroup var server: ServerOptions
    @Argument(help: "The bot's name, or the address of one of its pages.") var bot: BotArgument
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try await server.connect(to: bot.address)
            let path = "/api/v1/bots/\(PercentEncoding.encode(bot.name))/silences"
            if json { return Output.print(try await connection.get(path)) }
            let muted = try await connection.get(path, as: API.List<API.SilencedIssue>.self).items
            Output.print(muted.isEmpty ? "No issue of \(bot.name) is muted.\n" : muted.map(\.text).joined())
        }
    }
}

/// The command `martlet unmute BOT#N FINGERPRINT`.
struct Unmute: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unmute", abstract: "Unmutes an issue.", aliases: ["unsilence"])

    @OptionGroup var server: ServerOptions
    @Argument(help: "Such as kit#41, or kit for the latest of a branch or tag.") var integration: IntegrationArgument
    @Argument(help: "At least 6 digits of the issue's fingerprint.") var fingerprint: String

    func run() async throws {
        try await Failure.exiting {
            let path = integration.path + "/issues/\(PercentEncoding.encode(fingerprint))/unsilence"
            try await server.connect(to: integration.address).post(path)
        }
    }
}
