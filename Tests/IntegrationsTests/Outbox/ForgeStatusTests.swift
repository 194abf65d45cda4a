import BotSupport
import Integrations
import Model
import Storage
import TestSupport
import Testing
import Transfer

/// From a push to what the forge shows of its commit.
@Suite struct ForgeStatusTests {
    private static func word(_ kind: FakeForge.Kind, _ good: Bool) -> String {
        switch kind {
        case .github, .gitea, .forgejo: good ? "success" : "failure"
        case .gitlab: good ? "success" : "failed"
        case .bitbucket, .bitbucketServer: good ? "SUCCESSFUL" : "FAILED"
        }
    }

    @Test(arguments: FakeForge.Kind.allCases)
    func testThatAForgeShowsWhatBecameOfACommit(_ kind: FakeForge.Kind) async throws {
        try await withReportingBot(kind, configurations: ["debug", "release"]) { bot, forge in
            // when
            let good = try await bot.report(to: forge)
            let bad = try await bot.report(.failing("debug"), to: forge)

            // then: as a whole and by configuration
            let first = forge.current(good.record.commit.description)
            #expect(Set(first.keys) == ["martlet/kit", "martlet/kit/debug", "martlet/kit/release"])
            #expect(first.values.allSatisfy { $0.state == Self.word(kind, true) })
            #expect(first["martlet/kit"]?.text == "4 tests passed")
            #expect(first["martlet/kit"]?.url == "http://martlet.example/bots/kit/1")
            let second = forge.current(bad.record.commit.description)
            #expect(second["martlet/kit"]?.state == Self.word(kind, false))
            #expect(second["martlet/kit"]?.text == "1 of 4 tests failed, 1 new issue")
            #expect(second["martlet/kit/debug"]?.text == "1 of 2 tests failed")
            #expect(second["martlet/kit/release"]?.state == Self.word(kind, true))
            // Nothing was given up, and nothing told twice.
            let messages = try await bot.store.outbox(limit: 200).items
            #expect(messages.allSatisfy { [.sent, .superseded].contains($0.state) }, "\(messages.map(\.note))")
            for pair in zip(forge.history, forge.history.dropFirst()) where pair.0.context == pair.1.context {
                #expect(
                    (pair.0.state, pair.0.text, pair.0.commit) != (pair.1.state, pair.1.text, pair.1.commit), "\(pair)")
            }
        }
    }

    @Test func testThatAFixedTestIsSaid() async throws {
        try await withReportingBot { bot, forge in
            _ = try await bot.report(.failing("debug"), to: forge)
            let fixed = try await bot.report(to: forge)
            #expect(
                forge.current(fixed.record.commit.description)["martlet/kit"]?.text == "2 tests passed, 1 test fixed")
        }
    }

    @Test func testThatItIsPendingAtOnceAndBeforeItIsFinal() async throws {
        try await withReportingBot { bot, forge in
            // given: the first request is held up until the integration is done
            let gate = Locked(false)
            bot.transport.witness { _ in await until("the gate", limit: Bot.waitLimit) { gate.value } }
            let id = try await bot.push()
            forge.add(commit: id.description)
            try await bot.announce()
            let integration = try await bot.integration(of: id, on: RefName(branch: "main")).id
            _ = try await bot.completion(of: integration)
            gate.withLock { $0 = true }
            // when
            let messages = try await bot.outboxIsSent()
            // then: what came meanwhile was superseded by the newest, and the pending one came first
            let words = forge.history.filter { $0.context == "martlet/kit" }.map(\.state)
            #expect(words == ["pending", "success"])
            #expect(messages.map(\.state).first == .sent)
            #expect(messages.contains { $0.state == .superseded })
        }
    }

    @Test func testThatAFaultOfOursIsAnErrorAndNoFailure() async throws {
        try await withReportingBot { bot, forge in
            let commit = try await bot.push(Commit(files: [".martlet.yml": "configurations: {"]))
            forge.add(commit: commit.description)
            try await bot.announce()
            let done = try await bot.completion(
                of: try await bot.integration(of: commit, on: RefName(branch: "main")).id)
            _ = try await bot.outboxIsSent()
            let shown = forge.current(commit.description)["martlet/kit"]
            let isOurs = done.record.state.verdict?.isOurFault == true
            #expect(shown?.state == (isOurs ? "error" : "failure"), "\(done.record.state)")
            #expect(shown?.text.contains("\n") == false)
        }
    }

    @Test func testThatWhatIsCanceledIsNeverGreen() async throws {
        try await withReportingBot(.gitlab) { bot, forge in
            try await bot.stop()
            try await bot.start()
            let store = try bot.store
            let commit = try await bot.push()
            forge.add(commit: commit.description)
            let id = try await store.queue(
                NewIntegration(bot: bot.name, ref: RefName(branch: "main"), commit: commit, cause: .schedule),
                at: bot.time.now
            ).id
            try await store.cancel(queued: id, at: bot.time.now, reason: "ann wanted it")
            _ = try await bot.outboxIsSent()
            let shown = try #require(forge.current(commit.description)["martlet/kit"])
            #expect(shown.state == "canceled")
            #expect(shown.text == "canceled: ann wanted it")
        }
    }
}
