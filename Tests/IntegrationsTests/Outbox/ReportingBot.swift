import BotSupport
import Integrations
import Model
import Settings
import Storage
import TestSupport
import Testing

/// Gives a bot that reports to a fake forge, started.
func withReportingBot(
    _ kind: FakeForge.Kind = .github, configurations: [String] = ["debug"], file: String = "",
    token: String? = nil, hasComments: Bool = false, _ body: (Bot, FakeForge) async throws -> Void
) async throws {
    let forge = FakeForge(kind)
    let lines = """
        status:
          { forge: \(kind.rawValue), credentials: kit-status, api: \(forge.api), project: \(forge.project),
            comments: \(hasComments) }
        \(file)
        """
    try await withBot(BotPlan(configurations: configurations, file: lines), isStarted: false) { bot in
        try bot.secrets.set("kit-status", token ?? forge.token)
        bot.transport.serve(forge)
        try await bot.start()
        try await body(bot, forge)
        _ = bot.transport.takeRequests()
    }
}

extension Bot {
    /// Waits until no message is open.
    func outboxIsSent() async throws -> [OutboxMessage] {
        try await wait("the end of the outbox") { store in
            let counts = try await store.outboxCounts()
            return (counts[.waiting] ?? 0) + (counts[.sending] ?? 0) == 0 ? true : nil
        }
        return try await store.outbox(limit: 200).items.reversed()
    }

    /// Pushes a commit that the forge has, and waits for its end and what was to be told of it.
    func report(_ commit: Commit = .succeeding, to forge: FakeForge) async throws -> Integrated {
        let id = try await push(commit)
        forge.add(commit: id.description)
        try await announce()
        let done = try await completion(of: try await integration(of: id, on: RefName(branch: "main")).id)
        _ = try await outboxIsSent()
        return done
    }
}
