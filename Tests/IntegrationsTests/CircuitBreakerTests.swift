import BotSupport
import Integrations
import Model
import Storage
import TestSupport
import Testing

/// A git server that does not answer.
@Suite(
    .proves(
        .sourceControl,
        "A silent server is retried with growing pauses for a day, by one integration for all. They hold no slot, say why, and survive a restart; a missing repository cancels (N1, N4, N6)"
    ))
struct CircuitBreakerTests {
    /// Runs a test with a bot whose server is down, with one integration of `main` that was queued before.
    private func withOutage(
        concurrency: Int = 1, _ body: (Bot, GitServer, IntegrationID) async throws -> Void
    ) async throws {
        try await withBot(BotPlan(concurrency: concurrency), isStarted: false) { bot in
            let server = try GitServer(of: bot.directory)
            try bot.writeFile("insecure: true\nbranches: [\"**\"]", repository: server.url("kit.git"))
            let commit = try await bot.push()
            try await bot.start()
            let id = try await queue(bot, commit, on: "main")
            try await body(bot, server, id)
        }
    }

    private func queue(_ bot: Bot, _ commit: CommitID, on branch: String, of name: Name? = nil) async throws
        -> IntegrationID
    {
        try await bot.store.queue(
            NewIntegration(
                bot: name ?? bot.name, ref: RefName(branch: branch), commit: commit, cause: .push, isRelease: false),
            at: bot.time.now
        ).id
    }

    /// Waits until an integration has tried the server this many times, and the pause after that has begun.
    private func tries(_ count: Int, _ bot: Bot, _ id: IntegrationID) async throws -> IntegrationRecord {
        let record = try await bot.wait("try \(count) of \(id)") { store -> IntegrationRecord? in
            let record = try await store.integration(id)
            return record?.reason?.contains("(try \(count), the next at") == true ? record : nil
        }
        // The tasks of the poller, the failed scan, and this one.
        await bot.timer.awaitSleepers(Bot.restingSleepers + 2)
        return record
    }

    @Test func testThatItIsTriedAgainUntilItAnswersAndSaidMeanwhile() async throws {
        try await withOutage { bot, server, id in
            // when
            let first = try await tries(1, bot, id)
            #expect(first.state == .running(.preparing))
            expectContains(first.reason ?? "", "the next at 2026-03-01T12:00:0")
            for count in 2...6 {
                bot.timer.advance(by: .seconds(300))
                #expect(try await tries(count, bot, id).state == .running(.preparing))
            }

            // when it answers
            try await server.serving {
                bot.timer.advance(by: .seconds(300))
                let done = try await bot.completion(of: id)

                // then
                expectResult(of: done, "succeeded")
                #expect(done.record.reason == nil)
                try await bot.idle()
            }
        }
    }

    @Test func testThatOthersAreIntegratedMeanwhile() async throws {
        try await withOutage { bot, _, id in
            // given: more that wait than may run at once
            let commit = try await bot.work.head()
            let more = [
                try await queue(bot, commit, on: "a"), try await queue(bot, commit, on: "b"),
                try await queue(bot, commit, on: "c"),
            ]
            // Two run at once, and the one that asked first makes the server's first try.
            for id in [id] + more {
                try await bot.wait("\(id) waits") { store in
                    try await store.integration(id)?.reason?.contains("(try ") == true ? true : nil
                }
            }
            await bot.timer.awaitSleepers(Bot.restingSleepers + 2)

            // when
            try bot.directory.write("bots/other.yml", "repository: \(bot.remote.path)\npoll: off\n")
            bot.timer.advance(by: .seconds(1))
            let other = try #require(Name("other"))
            let done = try await bot.wait("the other bot's integration") { store in
                try await store.integrations(IntegrationFilter(bot: other)).items.first { $0.state.verdict != nil }
            }

            // then
            #expect(done.state.verdict == .succeeded)
            for id in more + [id] {
                #expect(try await bot.store.integration(id)?.state == .running(.preparing))
                try await cancel(bot, id)
            }
        }
    }

    private func cancel(_ bot: Bot, _ id: IntegrationID) async throws {
        try await bot.operations.cancel(id, grace: .seconds(1), by: "ada")
        expectVerdict(of: try await bot.completion(of: id), .canceled, because: "canceled by ada")
    }

    @Test func testThatTheServerIsAskedByOneForAll() async throws {
        try await withOutage { bot, _, id in
            // given
            _ = try await tries(1, bot, id)
            let second = try await queue(bot, try await bot.work.head(), on: "a")
            _ = try await tries(1, bot, second)

            // when
            bot.timer.advance(by: .seconds(300))

            // then: not three times
            _ = try await tries(2, bot, id)
            _ = try await tries(2, bot, second)
            try await cancel(bot, id)
            try await cancel(bot, second)
        }
    }

    @Test func testThatOneThatWaitsGoesOnAfterARestart() async throws {
        try await withOutage { bot, server, id in
            // given
            _ = try await tries(1, bot, id)
            try await bot.stop()

            // when
            try await server.serving {
                try await bot.start()

                // then
                expectResult(of: try await bot.completion(of: id), "succeeded")
                try await bot.idle()
                try await bot.stop()
            }
        }
    }

    @Test func testThatOfManyThatWaitNoMoreAskAfterARestartThanAreUnderWayAtOnce() async throws {
        try await withOutage { bot, _, id in
            // given: one try, whose result all know
            _ = try await tries(1, bot, id)
            let commit = try await bot.work.head()
            var ids = [id]
            for branch in "abcdefghijkl" { ids.append(try await queue(bot, commit, on: "\(branch)")) }
            for id in ids { _ = try await tries(1, bot, id) }
            try await bot.stop()

            // when
            try await bot.start()
            func asked() -> Int {
                bot.log.lines.count { $0.message == "a server does not answer; Martlet tries again" }
            }
            await until("the new daemon has asked") { asked() > 1 }

            // then: two may run beside each other, and later ones find that the server does not answer
            for id in ids { try await cancel(bot, id) }
            #expect(asked() <= 3)
        }
    }

    @Test func testThatItIsGivenUpAfterADay() async throws {
        try await withOutage { bot, _, id in
            // given
            _ = try await tries(1, bot, id)

            // when
            bot.time.advance(by: .seconds(24 * 3600))
            bot.timer.advance(by: .seconds(300))

            // then
            let done = try await bot.completion(of: id)
            expectVerdict(of: done, .checkoutError, because: "did not answer for 24 hours")
            #expect(done.attempts.isEmpty)
        }
    }

    /// N4.
    @Test(.threat("N4")) func testThatARepositoryThatIsGoneCancelsAtOnce() async throws {
        try await withOutage { bot, server, id in
            _ = try await tries(1, bot, id)
            try await server.serving {
                // when
                try await runExpectingSuccess(["mv", bot.remote.path, bot.remote.path + ".away"])
                let second = try await queue(bot, try await bot.work.head(), on: "a")

                // then
                bot.timer.advance(by: .seconds(300))
                let done = try await bot.completion(of: second)
                expectVerdict(of: done, .canceled, because: "repository gone")
                expectContains(done.record.reason ?? "", "there is no repository")
                try await bot.idle()
                try await bot.stop()
            }
        }
    }
}
