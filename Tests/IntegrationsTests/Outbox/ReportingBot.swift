import BotSupport
import Execution
import Integrations
import Model
import Settings
import Storage
import TestSupport
import Testing

/// Runs a test with a started bot that reports to a fake forge.
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
        // Its remaining messages are sent before that.
        try await bot.stop()
        _ = bot.transport.takeRequests()
    }
}

extension Bot {
    /// Waits until no message is open, and returns all.
    func outboxIsSent() async throws -> [OutboxMessage] {
        try await wait("the end of the outbox") { store in
            let counts = try await store.outboxCounts()
            return (counts[.waiting] ?? 0) + (counts[.sending] ?? 0) == 0 ? true : nil
        }
        return try await store.outbox(limit: 200).items.reversed()
    }

    /// Stores an integration that ended while the service was stopped, so that one message waits for `martlet/kit`.
    ///
    /// The bot's file has `branches: []`, so it integrates nothing else.
    /// - Parameter isKnown: Whether the forge has its commit.
    func leave(
        _ verdict: Verdict = .canceled, reason: String = "of the test", to forge: FakeForge, isKnown: Bool = true
    ) async throws -> CommitID {
        let commit = try await push(Commit(files: ["\(transport.count)": ""]))
        if isKnown { forge.add(commit: commit.description) }
        try await stop()
        let store = try Store.open(path: state.database)
        let id = try await store.queue(
            NewIntegration(bot: name, ref: RefName(branch: "main"), commit: commit, cause: .person), at: time.now
        ).id
        try await store.apply(.completed(verdict, triggerFailed: false), to: id, at: time.now, reason: reason)
        try store.close()
        return commit
    }

    /// Pushes a commit that the forge has, and waits for its end and its messages.
    func report(_ commit: Commit = .succeeding, to forge: FakeForge) async throws -> Integrated {
        let id = try await push(commit)
        forge.add(commit: id.description)
        try await announce()
        let done = try await completion(of: try await integration(of: id, on: RefName(branch: "main")).id)
        _ = try await outboxIsSent()
        return done
    }
}
