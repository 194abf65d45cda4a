import BotSupport
import Integrations
import Model
import Notifications
import Storage
import TestSupport
import Testing

/// A store with bots that report to one forge each, and an outbox with a scripted sender.
struct OutboxFixture: Sendable {
    let store: Store
    let sender: ScriptedSender
    let time: TestTime
    let timer: ManualClock
    let log: RecordingLogger
    let path: String

    /// Changes the database as another program does.
    func sql(_ statement: String) async throws { try await SQLProgram.run(statement, at: path) }

    static func destination(_ bot: String) -> String { "https://\(bot).example/api/v1" }

    func queue(_ bot: String = "kit", _ number: Int = 1) async throws -> IntegrationID {
        let digits = String(number, radix: 16)
        return try await store.queue(
            NewIntegration(
                bot: #require(Name(bot)), ref: RefName(branch: "main"),
                commit: #require(CommitID(String(repeating: "0", count: 40 - digits.count) + digits)), cause: .person),
            at: time.now
        ).id
    }

    /// Runs the outbox while the body runs, as a daemon does.
    func running(_ limits: OutboxLimits = OutboxLimits(), _ body: () async throws -> Void) async throws {
        let outbox = Outbox(
            store: store, senders: [sender], clock: time.clock, timer: timer, logger: log.logger, limits: limits)
        try await whileRunning({ await outbox.run() }, body)
    }

    /// Waits until the messages satisfy the condition.
    func messages(
        _ what: String, _ condition: @escaping @Sendable ([OutboxMessage]) -> Bool
    ) async throws {
        _ = try await until(what) { try await condition(store.outbox(limit: 200).items.reversed()) }
    }

    /// Advances the time, by the clock and for sleeping tasks.
    func pass(_ duration: Duration) async {
        await timer.awaitSleepers()
        time.advance(by: duration)
        timer.advance(by: duration)
    }
}

func withOutbox(_ bots: [String] = ["kit"], _ body: (OutboxFixture) async throws -> Void) async throws {
    try await withTemporaryDirectory { directory in
        let store = try Store.open(path: directory.path("martlet.sqlite"))
        let fixture = OutboxFixture(
            store: store, sender: ScriptedSender(), time: TestTime(), timer: ManualClock(), log: RecordingLogger(),
            path: directory.path("martlet.sqlite"))
        let specifications = try bots.map { bot in
            BotSpecification(
                name: try #require(Name(bot)), repository: "https://git.example/\(bot).git",
                status: StatusTarget(
                    forge: .gitea, credentials: "token", api: OutboxFixture.destination(bot), project: "acme/\(bot)"))
        }
        try await store.register(specifications, at: fixture.time.now)
        do {
            try await body(fixture)
        } catch {
            try store.close()
            throw error
        }
        try store.close()
    }
}
