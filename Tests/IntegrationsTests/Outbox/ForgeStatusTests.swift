import BotSupport
import Integrations
import Model
import Storage
import TestSupport
import Testing
import Transfer

/// From a push to the status that the forge shows.
@Suite struct ForgeStatusTests {
    private static func word(_ kind: FakeForge.Kind, _ good: Bool) -> String {
        switch kind {
        case .github, .gitea, .forgejo: good ? "success" : "failure"
        case .gitlab: good ? "success" : "failed"
        case .bitbucket, .bitbucketServer: good ? "SUCCESSFUL" : "FAILED"
        }
    }

    @Test(
        .proves(
            .intake,
            "Commit statuses at GitHub, GitLab, Gitea, Forgejo and Bitbucket, as a whole and by configuration, with link and counts; our faults are errors, not failures"
        ), arguments: FakeForge.Kind.allCases)
    func testThatAForgeShowsWhatBecameOfACommit(_ kind: FakeForge.Kind) async throws {
        try await withReportingBot(kind, configurations: ["debug", "release"]) { bot, forge in
            // when
            let good = try await bot.report(to: forge)
            let bad = try await bot.report(.failing("debug"), to: forge)

            // then: as a whole and by configuration
            let first = forge.current(good.record.commit.description)
            #expect(Set(first.keys) == ["martlet/kit", "martlet/kit/debug", "martlet/kit/release"])
            #expect(first.values.allSatisfy { $0.state == Self.word(kind, true) })
            #expect(first["martlet/kit"]?.text == "2 tests in 2 configurations")
            #expect(first["martlet/kit"]?.url == "http://martlet.example/bots/kit/1")
            let second = forge.current(bad.record.commit.description)
            #expect(second["martlet/kit"]?.state == Self.word(kind, false))
            #expect(second["martlet/kit"]?.text == "2 tests in 2 configurations, 1 fails, 1 new issue")
            #expect(second["martlet/kit/debug"]?.text == "1 of 2 tests failed")
            #expect(second["martlet/kit/release"]?.state == Self.word(kind, true))
            // No message was given up, and none was sent twice.
            let messages = try await bot.store.outbox(limit: 200).items
            #expect(messages.allSatisfy { [.sent, .superseded].contains($0.state) }, "\(messages.map(\.note))")
            for pair in zip(forge.history, forge.history.dropFirst()) where pair.0.context == pair.1.context {
                #expect(
                    (pair.0.state, pair.0.text, pair.0.commit) != (pair.1.state, pair.1.text, pair.1.commit), "\(pair)")
            }
        }
    }

    @Test(
        .proves(
            .intake,
            "Commit statuses at GitHub, GitLab, Gitea, Forgejo and Bitbucket, as a whole and by configuration, with link and counts; our faults are errors, not failures"
        ))
    func testThatAFixedTestIsSaid() async throws {
        try await withReportingBot { bot, forge in
            _ = try await bot.report(.failing("debug"), to: forge)
            let fixed = try await bot.report(to: forge)
            #expect(
                forge.current(fixed.record.commit.description)["martlet/kit"]?.text == "2 tests, 1 test fixed")
        }
    }

    @Test(
        .proves(.intake, "Pending before final; newer ones supersede older ones of the same subject that were not sent")
    )
    func testThatItIsPendingAtOnceAndBeforeItIsFinal() async throws {
        try await withReportingBot { bot, forge in
            // given: the first request is delayed until the integration has ended
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
            // then: the newest status superseded the ones in between, and the pending one was first
            let words = forge.history.filter { $0.context == "martlet/kit" }.map(\.state)
            #expect(words == ["pending", "success"])
            let first = messages.first { $0.job == nil && $0.state == .sent }
            // Queued, or running if that was stored before the first was taken.
            #expect(first != nil && first?.content.verdict == nil)
            #expect(messages.contains { $0.state == .superseded })
        }
    }

    /// Returns the forge's status of an integration with this end.
    private static func shown(
        _ kind: FakeForge.Kind, _ verdict: Verdict, _ reason: String = "ann wanted it"
    ) async throws -> FakeForge.Status? {
        let found = Locked<FakeForge.Status?>(nil)
        try await withReportingBot(kind, file: "branches: []") { bot, forge in
            let commit = try await bot.leave(verdict, reason: reason, to: forge)
            try await bot.start()
            _ = try await bot.outboxIsSent()
            let status = forge.current(commit.description).values.first
            found.withLock { $0 = status }
        }
        return found.value
    }

    @Test(
        .proves(
            .intake,
            "Commit statuses at GitHub, GitLab, Gitea, Forgejo and Bitbucket, as a whole and by configuration, with link and counts; our faults are errors, not failures"
        ), arguments: [Verdict.checkoutError, .internalError])
    func testThatAFaultOfOursIsAnErrorAndNoFailure(_ verdict: Verdict) async throws {
        for (kind, word) in [(FakeForge.Kind.github, "error"), (.gitea, "error"), (.gitlab, "failed")] {
            let status = try #require(try await Self.shown(kind, verdict, "the disk is full"))
            #expect(status.state == word)
            expectContains(status.text, "error: the disk is full")
        }
    }

    @Test(
        .proves(
            .intake,
            "Commit statuses at GitHub, GitLab, Gitea, Forgejo and Bitbucket, as a whole and by configuration, with link and counts; our faults are errors, not failures"
        ), arguments: [(FakeForge.Kind.github, 140), (.gitlab, 255), (.gitea, 255), (.bitbucket, 255)])
    func testThatALongReasonIsCutToWhatTheForgeTakes(_ kind: FakeForge.Kind, _ limit: Int) async throws {
        let status = try #require(try await Self.shown(kind, .canceled, String(repeating: "é\n", count: 400)))
        #expect(status.text.count == limit && status.text.hasSuffix("…") && !status.text.contains("\n"))
    }

    @Test func testThatAReasonIsCutByCodePointsAndBetweenCharacters() async throws {
        let family = "👩‍👩‍👧‍👦"
        let status = try #require(try await Self.shown(.gitlab, .canceled, String(repeating: family, count: 100)))
        #expect(status.text.unicodeScalars.count <= 255 && status.text.unicodeScalars.count > 240)
        #expect(status.text.hasSuffix(family + "…"))
    }

    @Test(
        .proves(
            .intake,
            "Commit statuses at GitHub, GitLab, Gitea, Forgejo and Bitbucket, as a whole and by configuration, with link and counts; our faults are errors, not failures"
        ),
        arguments: [
            (FakeForge.Kind.github, "error"), (.gitlab, "canceled"), (.gitea, "error"), (.forgejo, "error"),
            (.bitbucket, "STOPPED"), (.bitbucketServer, "CANCELLED"),
        ])
    func testThatWhatIsCanceledIsNeverGreen(_ kind: FakeForge.Kind, _ word: String) async throws {
        let status = try #require(try await Self.shown(kind, .canceled))
        #expect(status.state == word)
        #expect(status.text == "canceled: ann wanted it")
    }
}
