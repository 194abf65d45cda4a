import Basics
import BotSupport
import Execution
import Foundation
import Integrations
import Model
import Settings
import Storage
import TestSupport
import Testing
import Transfer

/// Forges that lose answers, limit, refuse, redirect and repeat secrets.
@Suite struct ForgeStatusFaultTests {
    /// Runs a test with a bot that integrates only on request, so that there are no other messages.
    private func withFaultyForge(
        _ kind: FakeForge.Kind = .github, _ body: (Bot, FakeForge) async throws -> Void
    ) async throws {
        try await withReportingBot(kind, file: "branches: []", body)
    }

    /// Waits until the message satisfies the condition, and returns it.
    private static func message(
        _ bot: Bot, _ what: String, _ condition: @escaping @Sendable (OutboxMessage) -> Bool
    ) async throws -> OutboxMessage {
        try await bot.wait(what) { store in
            try await store.outbox().items.first { $0.state != .superseded && condition($0) }
        }
    }

    private static func pass(_ bot: Bot, _ duration: Duration) async {
        // The tasks of the poller and the outbox.
        await bot.timer.awaitSleepers(Bot.restingSleepers + 1)
        bot.time.advance(by: duration)
        bot.timer.advance(by: duration)
    }

    @Test(
        .proves(
            .intake,
            "Each change is sent once to a service that can tell; what was being sent when a daemon was killed is looked for there first"
        ), arguments: [FakeForge.Kind.github, .gitlab, .gitea, .forgejo])
    func testThatALostAnswerIsLookedForAndNotSentTwice(_ kind: FakeForge.Kind) async throws {
        try await withFaultyForge(kind) { bot, forge in
            _ = try await bot.leave(to: forge)
            bot.transport.fail(request: bot.transport.count + 1, with: .after(.interrupted))
            // when
            try await bot.start()
            let first = try await Self.message(bot, "the lost answer") { $0.tries == 1 && $0.state == .waiting }
            #expect(first.isUncertain)
            await Self.pass(bot, .seconds(5))
            // then
            let sent = try await Self.message(bot, "the end") { $0.state == .sent }
            #expect(sent.note == "found at the forge; the answer to it was lost")
            #expect(forge.history.filter { $0.context == "martlet/kit" }.count == 1)
        }
    }

    /// GitLab keeps a status by its ref, too. A status of another branch at the same commit does not count.
    @Test(.proves(.intake, "A lost answer at GitLab is looked for at the status's own branch"))
    func testThatALostAnswerIsLookedForAtItsOwnBranch() async throws {
        try await withFaultyForge(.gitlab) { bot, forge in
            // given: two branches at one commit, and the answer to the first one's status is lost
            let commit = try await bot.leave(to: forge)
            let store = try Store.open(path: bot.state.database)
            let id = try await store.queue(
                NewIntegration(bot: bot.name, ref: RefName(branch: "release/é"), commit: commit, cause: .person),
                at: bot.time.now
            ).id
            try await store.apply(.completed(.canceled, triggerFailed: false), to: id, at: bot.time.now, reason: "too")
            try store.close()
            bot.transport.fail(request: bot.transport.count + 1, with: .after(.interrupted))
            // when
            try await bot.start()
            _ = try await Self.message(bot, "the lost answer") { $0.tries == 1 && $0.state == .waiting }
            await Self.pass(bot, .seconds(5))
            _ = try await bot.outboxIsSent()
            // then
            #expect(forge.history.map(\.ref).sorted() == ["main", "release/é"])
            let notes = try await bot.store.outbox().items.filter { $0.state == .sent }.compactMap(\.note)
            #expect(notes == ["found at the forge; the answer to it was lost"])
        }
    }

    @Test func testThatWhatDidNotArriveIsSentAgain() async throws {
        try await withFaultyForge { bot, forge in
            let commit = try await bot.leave(to: forge)
            bot.transport.fail(request: bot.transport.count + 1, with: .before(.timedOut))
            try await bot.start()
            _ = try await Self.message(bot, "the time-out") { $0.tries == 1 && $0.state == .waiting }
            await Self.pass(bot, .seconds(5))
            _ = try await Self.message(bot, "the end") { $0.state == .sent && $0.note == nil }
            #expect(forge.current(commit.description)["martlet/kit"]?.state == "error")
        }
    }

    @Test(
        .proves(
            .intake,
            "Each change is sent once to a service that can tell; what was being sent when a daemon was killed is looked for there first"
        ))
    func testThatADaemonThatWasKilledAfterTheForgeHadItSendsItOnce() async throws {
        try await withFaultyForge { bot, forge in
            let commit = try await bot.leave(to: forge)
            // given: the forge has it, and the daemon ends before it knows that
            bot.transport.fail(request: bot.transport.count + 1, with: .silenceAfter)
            try await bot.start()
            _ = try await Self.message(bot, "the try") { $0.state == .sending }
            await until("what the forge has") { forge.history.count == 1 }
            try await bot.stop()
            // when
            try await bot.start()
            // then
            let sent = try await Self.message(bot, "the end") { $0.state == .sent }
            #expect(sent.note == "found at the forge; the answer to it was lost")
            #expect(forge.history.filter { $0.commit == commit.description }.count == 1)
        }
    }

    @Test(
        .proves(
            .intake,
            "Messages are retried with backoff and jitter, and `Retry-After` is honored up to 6 h. A refused one is given up with its reason, others after a day and at least 5 failures"
        ),
        .proves(.intake, "A destination is left alone for as long as its `Retry-After` says, in seconds or as a date"),
        arguments: [
            (403, ["Retry-After": "30"], ""), (429, ["Retry-After": "30"], ""),
            (429, ["RateLimit-Reset": "1772366460"], ""), (429, ["Retry-After": "Sun, 01 Mar 2026 12:00:30 GMT"], ""),
            (403, [:], #"{"message":"You have exceeded a secondary rate limit. Please wait."}"#),
            (503, ["Retry-After": "30"], "<html>"),
        ] as [(Int, [String: String], String)])
    func testThatALimitIsWaitedFor(_ status: Int, _ headers: [String: String], _ body: String) async throws {
        try await withFaultyForge { bot, forge in
            _ = try await bot.leave(to: forge)
            forge.answerNext(
                status, headers: TransferHeaders(headers.map { .init(name: $0.key, value: $0.value) }), body: body)
            try await bot.start()
            let limited = try await Self.message(bot, "the limit") { $0.tries == 1 && $0.state == .waiting }
            let wait = limited.nextAt - bot.time.now
            #expect(wait > .seconds(25) && wait <= .seconds(61), "\(wait)")
            await Self.pass(bot, .seconds(61))
            _ = try await Self.message(bot, "the end") { $0.state == .sent }
        }
    }

    @Test(
        .proves(
            .intake,
            "Tokens are in no row, line or error; redirects are not followed; what a forge says is kept to a sentence"))
    func testS2ThatATokenIsInNoRowAndNoLineHoweverAForgeRepeatsIt() async throws {
        try await withFaultyForge { bot, forge in
            _ = try await bot.leave(to: forge)
            forge.answerNext(
                401, body: #"{"message":"Bad credentials \#(forge.token), Basic dDBrZW4tQ2FuYXJ5"}"#)
            try await bot.start()
            let refused = try await Self.message(bot, "the refusal") { $0.tries == 1 && $0.state == .waiting }
            let note = try #require(refused.note)
            expectContains(note, "/statuses/")
            expectContains(note, "answered 401 (Bad credentials …, Basic …)")
            expectContains(note, "martlet secret set kit-status")
            for line in bot.log.lines { #expect(!line.description.contains(forge.token), "\(line)") }
            try await bot.stop()
            let bytes = try WholeFile.read(bot.state.database, limit: 64 << 20)
            #expect(!bytes.contains(Array(forge.token.utf8)))
        }
    }

    @Test(
        .proves(
            .intake,
            "A message refused for its token (401, 403) waits for another; each account of a forge pauses by itself; a series of failures is the destination's"
        ), arguments: [401, 403])
    func testThatWhatATokenIsRefusedIsSentOnceItIsMended(_ status: Int) async throws {
        try await withFaultyForge { bot, forge in
            let commit = try await bot.leave(to: forge)
            forge.answerNext(status, body: #"{"message":"Resource not accessible by token"}"#)
            try await bot.start()
            let waiting = try await Self.message(bot, "the refusal") { $0.tries == 1 && $0.state == .waiting }
            expectContains(waiting.note ?? "", "answered \(status) (Resource not accessible by token)")
            await Self.pass(bot, .seconds(5))
            _ = try await Self.message(bot, "the end") { $0.state == .sent }
            #expect(forge.current(commit.description)["martlet/kit"]?.state == "error")
        }
    }

    /// GitHub hides what a token may not see; elsewhere 404 may concern only the commit.
    @Test(
        .proves(.intake, "A token that cannot be sent, or from which GitHub hides the repository, is waited for"),
        arguments: [(FakeForge.Kind.github, OutboxMessage.State.waiting), (.gitea, .givenUp)])
    func testThatARepositoryThatATokenLostSightOfIsWaitedFor(
        _ kind: FakeForge.Kind, _ state: OutboxMessage.State
    ) async throws {
        try await withFaultyForge(kind) { bot, forge in
            _ = try await bot.leave(to: forge)
            forge.answerNext(404, body: #"{"message":"Not Found"}"#)
            try await bot.start()
            let answered = try await Self.message(bot, "the answer") { $0.note != nil && $0.state != .sending }
            expectContains(answered.note ?? "", "answered 404 (Not Found)")
            #expect(answered.state == state)
            guard state == .waiting else { return }
            await Self.pass(bot, .seconds(5))
            _ = try await Self.message(bot, "the end") { $0.state == .sent }
        }
    }

    @Test(
        .proves(.intake, "A token that cannot be sent, or from which GitHub hides the repository, is waited for"),
        arguments: [FakeForge.Kind.github, .gitlab], ["t0\u{1}ken", "-----BEGIN KEY"])
    func testThatATokenThatCannotBeSentIsWaitedForAsAMissingOne(_ kind: FakeForge.Kind, _ token: String) async throws {
        try await withFaultyForge(kind) { bot, forge in
            _ = try await bot.leave(to: forge)
            try bot.secrets.set("kit-status", token)
            try await bot.start()
            let waiting = try await Self.message(bot, "the first try") { $0.note != nil && $0.state != .sending }
            #expect(waiting.state == .waiting, "\(waiting.note ?? "")")
            try bot.secrets.set("kit-status", forge.token)
            await Self.pass(bot, .seconds(5))
            _ = try await Self.message(bot, "the end") { $0.state == .sent }
        }
    }

    @Test(
        .proves(
            .intake,
            "Tokens are in no row, line or error; redirects are not followed; what a forge says is kept to a sentence"))
    func testT2ThatARedirectIsNotFollowed() async throws {
        try await withFaultyForge { bot, forge in
            _ = try await bot.leave(to: forge)
            forge.answerNext(307, headers: ["Location": "https://evil.example/steal"])
            try await bot.start()
            let refused = try await Self.message(bot, "the refusal") { $0.state == .givenUp }
            expectContains(refused.note ?? "", "it wants us elsewhere, where the token is not sent")
            #expect(bot.transport.takeRequests().allSatisfy { $0.url.hasPrefix(forge.api) })
        }
    }

    @Test(
        .proves(
            .intake,
            "Tokens are in no row, line or error; redirects are not followed; what a forge says is kept to a sentence"))
    func testA16ThatAnAnswerIsASentenceAtMost() async throws {
        try await withFaultyForge { bot, forge in
            _ = try await bot.leave(to: forge)
            forge.answerNext(422, body: #"{"message":"\#(String(repeating: "x\\n", count: 50_000))"}"#)
            try await bot.start()
            let refused = try await Self.message(bot, "the refusal") { $0.state == .givenUp }
            #expect((refused.note?.count ?? 0) < 450)
            #expect(refused.note?.contains("\n") == false)
        }
    }

    @Test func testThatAnUnknownCommitIsSaidAndOthersGoOn() async throws {
        try await withFaultyForge { bot, forge in
            _ = try await bot.leave(to: forge, isKnown: false)
            try await bot.start()
            let refused = try await Self.message(bot, "the refusal") { $0.state == .givenUp }
            expectContains(refused.note ?? "", "answered 422 (No commit found for SHA")
            let commit = try await bot.leave(to: forge)
            try await bot.start()
            _ = try await Self.message(bot, "the other's") { $0.state == .sent && $0.content.commit == commit }
        }
    }

    @Test func testThatAMissingSecretIsWaitedFor() async throws {
        try await withFaultyForge { bot, forge in
            _ = try await bot.leave(to: forge)
            try FileManager.default.removeItem(atPath: bot.directory.path("secrets/kit-status"))
            try await bot.start()
            let waiting = try await Self.message(bot, "the first try") { $0.tries == 1 && $0.state == .waiting }
            expectContains(waiting.note ?? "", "the secret kit-status is not set")
            try bot.secrets.set("kit-status", forge.token)
            await Self.pass(bot, .seconds(5))
            _ = try await Self.message(bot, "the end") { $0.state == .sent }
        }
    }

    @Test func testThatABotWhoseFileIsMissingForAMomentStillTells() async throws {
        try await withFaultyForge { bot, forge in
            let commit = try await bot.leave(to: forge)
            let file = bot.directory.path("bots/kit.yml")
            let kept = try WholeFile.read(file, limit: 1 << 20)
            try FileManager.default.removeItem(atPath: file)
            try await bot.start()
            let waiting = try await Self.message(bot, "the first try") { $0.tries == 1 && $0.state == .waiting }
            expectContains(waiting.note ?? "", "there is no bot kit now")
            // when
            try await bot.stop()
            try Data(kept).write(to: URL(filePath: file))
            try await bot.start()
            // then
            bot.time.advance(by: .seconds(5))
            bot.timer.advance(by: .seconds(5))
            _ = try await Self.message(bot, "the end") { $0.state == .sent }
            #expect(forge.current(commit.description)["martlet/kit"]?.state == "error")
        }
    }

    @Test func testThatABotThatReportsNowhereAnyMoreTellsNobody() async throws {
        try await withFaultyForge { bot, forge in
            _ = try await bot.leave(to: forge)
            try bot.writeFile("")
            let before = bot.transport.count
            try await bot.start()
            let dropped = try await Self.message(bot, "the end") { $0.state == .unneeded }
            expectContains(dropped.note ?? "", "names no `status` any more")
            #expect(bot.transport.count == before)
        }
    }
}
