import API
import ArgumentParser
import Model

/// The command `martlet pause`.
struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Starts no new integration, of one bot or of any; events are stored, and what runs goes on.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "The bot's name, or the address of one of its pages; all bots when left out.") var bot: BotArgument?
    @Option(help: "Why, for all who see the queue.") var reason: String?
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try await server.connect(to: bot?.address)
            let body = API.PauseRequest(bot: bot?.name, reason: reason)
            try Control.print(json, try await connection.post("/api/v1/pause", body))
        }
    }
}

/// The command `martlet resume`.
struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract:
            "Ends the pause of a bot, the pause and the drain of the service, or with --publishing what a restore holds."
    )

    @OptionGroup var server: ServerOptions
    @Argument(help: "The bot's name, or the address of one of its pages; the service when left out.") var bot:
        BotArgument?
    @Flag(help: "Let publishing go on, which is held after a restore.") var publishing = false
    @Option(
        help: "With --publishing: a version that was published after the backup, such as kit=1.4.2; can be repeated.")
    var published: [String] = []
    @Flag(help: "With --publishing: no version was published after the backup was made.") var nonePublished = false
    @Flag(help: "Print the daemon's JSON.") var json = false

    func validate() throws {
        if publishing, bot != nil { throw ValidationError("--publishing is about all bots; leave the bot out") }
        if !publishing, !published.isEmpty || nonePublished {
            throw ValidationError("--published and --none-published belong to --publishing")
        }
        // Otherwise a number that was published would be used again, for other bytes.
        if publishing, published.isEmpty != nonePublished {
            throw ValidationError(
                "--publishing needs either --published PRODUCT=VERSION, for each version that was published after the backup was made, or "
                    + "--none-published, if there is none; upload targets, mails and lock files of users tell")
        }
        for text in published where Self.version(text) == nil {
            throw ValidationError("--published is PRODUCT=VERSION, such as kit=1.4.2")
        }
    }

    private static func version(_ text: String) -> API.ResumeRequest.PublishedVersion? {
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        return .init(product: String(parts[0]), version: String(parts[1]))
    }

    func run() async throws {
        try await Failure.exiting {
            let connection = try await server.connect(to: bot?.address)
            let body =
                publishing
                ? API.ResumeRequest(bot: nil, publishing: true, published: published.compactMap(Self.version))
                : API.ResumeRequest(bot: bot?.name)
            try Control.print(json, try await connection.post("/api/v1/resume", body))
        }
    }
}

/// The command `martlet drain`.
struct DrainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Starts no new integration until the machine has restarted; --wait returns when nothing runs.")

    @OptionGroup var server: ServerOptions
    @Option(help: "Why, for all who see the queue.") var reason: String?
    @Flag(help: "Wait until nothing runs; the exit status is 1 if somebody resumes the service before.") var wait =
        false
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try server.connect()
            var answer = try await connection.post("/api/v1/drain", API.DrainRequest(reason: reason))
            var running: Int?
            while wait {
                let state = try Connection.decode(answer, as: API.PauseState.self)
                guard state.pauses.contains(where: { $0.scope == "drain" }) else {
                    throw Failure(
                        .no, "the drain was ended while integrations ran; `martlet drain --wait` begins again")
                }
                if state.drained { break }
                if state.running != running, !json {
                    Output.print("\(state.running.counting("integration")) still running\n")
                }
                running = state.running
                try await Task.sleep(for: .milliseconds(500))
                answer = try await Retries.whileAway { try await connection.get("/api/v1/pauses") }
            }
            try Control.print(json, answer)
        }
    }
}

/// The text of pauses.
enum Control {
    /// Prints the daemon's answer as it is, or in words.
    static func print(_ json: Bool, _ answer: [UInt8]) throws {
        if json { return Output.print(answer) }
        Output.print(text(try Connection.decode(answer, as: API.PauseState.self)))
    }

    /// Returns a line for each pause, and one for what runs.
    static func text(_ state: API.PauseState) -> String {
        let lines = state.pauses.map { "\($0.sentence)\n" }
        let running =
            state.drained
            ? "nothing runs\n"
            : state.running > 0 ? "\(state.running.counting("integration")) still running\n" : ""
        return (lines.isEmpty ? "nothing is paused\n" : lines.joined()) + running
    }
}

extension API.Pause {
    /// Such as `kit is paused since 2026-03-01T12:00:00.000Z by ann: the disk is replaced`.
    var sentence: String {
        let what =
            switch scope {
            case "drain": "the service is drained"
            case "publishing": "publishing is held"
            default: "\(bot ?? "the service") is paused"
            }
        return Output.visible("\(what) since \(since) by \(by)" + (reason.map { ": \($0)" } ?? ""))
    }
}
