import BotSupport
import Execution
import Foundation
import Integrations
import Model
import Storage
import TestSupport
import Testing
import Transfer

/// One comment on a pull request, which is edited.
@Suite struct ForgeCommentTests {
    private func withCommentingBot(
        _ kind: FakeForge.Kind = .github, _ body: (Bot, FakeForge) async throws -> Void
    ) async throws {
        try await withReportingBot(kind, file: "branches: []", hasComments: true, body)
    }

    /// Stores an integration of the pull request 7 that found these new issues, while the service is stopped; then starts the service.
    private static func found(
        _ bot: Bot, _ messages: [String], verdict: Verdict = .buildErrors
    ) async throws {
        if bot.isRunning { try await bot.stop() }
        let store = try Store.open(path: bot.state.database)
        let commit = try #require(CommitID(String(repeating: "c", count: 40)))
        let pull = IntegratedPullRequest(
            number: 7, place: RefName("refs/pull/7/head"), base: RefName(branch: "main"),
            baseCommit: commit, head: commit)
        let id = try await store.queue(
            NewIntegration(
                bot: bot.name, ref: RefName(pullRequest: 7), commit: commit, cause: .pull, pull: pull),
            at: bot.time.now
        ).id
        try await store.apply(.started, to: id, at: bot.time.now)
        let issues = messages.enumerated().map { number, message in
            Issue(
                fingerprint: "f\(number)", content: "", status: .new,
                finding: Finding(
                    category: .error, message: message, rule: "", path: "Sources/a.swift", line: number + 1), age: 1,
                configurations: [])
        }
        var summary = Summary()
        summary.counts.errors = messages.count
        try await store.completeIssues(
            of: id, issues: issues, summary: summary, at: bot.time.now,
            with: .completed(verdict, triggerFailed: false))
        try store.close()
        try await bot.start()
    }

    private static func comment(_ bot: Bot, _ what: String, number: Int) async throws -> OutboxMessage {
        try await bot.wait(what) { store in
            try await store.outbox(limit: 200).items.first {
                $0.kind == .comment && $0.integration?.number == number && ![.waiting, .sending].contains($0.state)
            }
        }
    }

    @Test(
        .proves(
            .intake,
            "Comments on pull requests with the new issues at GitHub, GitLab, Gitea and Forgejo: one that is edited"),
        arguments: [FakeForge.Kind.github, .gitlab, .gitea, .forgejo])
    func testThatNewIssuesAreOneCommentThatIsEdited(_ kind: FakeForge.Kind) async throws {
        try await withCommentingBot(kind) { bot, forge in
            // when
            try await Self.found(bot, ["cannot find 'x'", "two"])
            #expect(try await Self.comment(bot, "the first", number: 1).state == .sent)
            let first = try #require(forge.comments.first)
            // then
            #expect(first.number == 7)
            expectContains(
                first.text, "**[kit#1](http://martlet.example/bots/kit/1)** of cccccccccccc: `2 errors, 2 new issues`")
            expectContains(
                first.text, "```text\nSources/a.swift:1: error: cannot find 'x'\nSources/a.swift:2: error: two\n```")
            // when
            try await Self.found(bot, ["three"])
            #expect(try await Self.comment(bot, "the second", number: 2).state == .sent)
            try await Self.found(bot, [], verdict: .succeeded)
            #expect(try await Self.comment(bot, "the third", number: 3).state == .sent)
            // then
            #expect(forge.comments.map(\.id) == [first.id])
            expectContains(forge.comments.first?.text ?? "", "There are no new issues.")
        }
    }

    @Test func testThatNothingIsSaidWhereNothingIsNew() async throws {
        try await withCommentingBot { bot, forge in
            try await Self.found(bot, [], verdict: .succeeded)
            #expect(try await Self.comment(bot, "the end", number: 1).state == .unneeded)
            #expect(forge.comments.isEmpty)
        }
    }

    @Test(
        .proves(
            .intake,
            "Comments on pull requests with the new issues at GitHub, GitLab, Gitea and Forgejo: one that is edited"))
    func testThatALostAnswerMakesNoSecondComment() async throws {
        try await withCommentingBot { bot, forge in
            // given: the status of the whole and the comment follow each other, each to its own destination
            try await bot.stop()
            bot.transport.loseAnswer(toURLWithSuffix: "/issues/7/comments")
            try await Self.found(bot, ["one"])
            _ = try await bot.wait("the lost answer") { store in
                try await store.outbox().items.first { $0.kind == .comment && $0.isUncertain && $0.state == .waiting }
            }
            await bot.timer.awaitSleepers(Bot.restingSleepers + 1)
            bot.time.advance(by: .seconds(10))
            bot.timer.advance(by: .seconds(10))
            #expect(try await Self.comment(bot, "the end", number: 1).state == .sent)
            #expect(forge.comments.count == 1)
        }
    }

    @Test(
        .proves(
            .intake,
            "Comments on pull requests with the new issues at GitHub, GitLab, Gitea and Forgejo: one that is edited"))
    func testThatADeletedCommentIsMadeAnew() async throws {
        try await withCommentingBot { bot, forge in
            try await Self.found(bot, ["one"])
            _ = try await Self.comment(bot, "the first", number: 1)
            forge.deleteComments()
            try await Self.found(bot, ["two"])
            #expect(try await Self.comment(bot, "the second", number: 2).state == .sent)
            #expect(forge.comments.count == 1)
            expectContains(forge.comments.first?.text ?? "", "error: two")
        }
    }

    @Test(
        .proves(
            .intake,
            "Comments on pull requests with the new issues at GitHub, GitLab, Gitea and Forgejo: one that is edited"))
    func testThatWhatAJobPrintedIsNeitherMarkupNorACall() async throws {
        try await withCommentingBot { bot, forge in
            let hostile = "```\n@everyone"
            try await Self.found(
                bot,
                [hostile, "```` @admin <img src=x> \u{202E}\u{1B}[31m", String(repeating: "x", count: 9000)]
                    + (1...40).map { "issue \($0)" })
            #expect(try await Self.comment(bot, "the end", number: 1).state == .sent)
            let text = try #require(forge.comments.first?.text)
            // The code block's marks are longer than any within it, there is one line per issue, and there are no control characters.
            expectContains(text, "\n`````text\n")
            expectContains(text, "\n`````\n\nand 23 more\n")
            #expect(!text.unicodeScalars.contains { $0.value == 0x202E || $0.value == 0x1B })
            #expect(text.count < 8000)
        }
    }

    /// Advances the time until the comment's message satisfies the condition.
    private static func comment(
        _ bot: Bot, number: Int, _ condition: @escaping @Sendable (OutboxMessage) -> Bool
    ) async throws -> OutboxMessage {
        try await bot.message("the comment of \(number)") {
            $0.kind == .comment && $0.integration?.number == number && condition($0)
        }
    }

    /// A locked conversation, or a token that lost the right for a while.
    @Test(
        .proves(
            .intake,
            "A comment stays the one while it may not be edited, while its number cannot be stored or read, and when it is tried again days later"
        ), arguments: [["two"], []])
    func testThatACommentThatMayNotBeEditedNowStaysTheOne(_ news: [String]) async throws {
        try await withCommentingBot { bot, forge in
            // given
            try await Self.found(bot, ["one"])
            let first = try await Self.comment(bot, "the first", number: 1)
            #expect(first.state == .sent)
            for suffix in ["/issues/comments/\(forge.comments[0].id)", "/issues/7/comments"] {
                forge.answerNext(403, body: #"{"message":"Resource not accessible"}"#, at: suffix)
            }
            // when
            try await Self.found(bot, news, verdict: news.isEmpty ? .succeeded : .buildErrors)
            let sent = try await Self.comment(bot, number: 2) { $0.state == .sent }
            // then: it waited
            #expect(sent.tries > 1)
            #expect(forge.comments.count == 1)
            expectContains(forge.comments[0].text, news.isEmpty ? "There are no new issues." : "error: two")
        }
    }

    @Test(
        .proves(
            .intake,
            "A comment stays the one while it may not be edited, while its number cannot be stored or read, and when it is tried again days later"
        ))
    func testThatAnotherAccountsCommentIsFollowedByAnother() async throws {
        try await withCommentingBot { bot, forge in
            // given
            try await Self.found(bot, ["one"])
            _ = try await Self.comment(bot, "the first", number: 1)
            forge.answerNext(403, at: "/issues/comments/\(forge.comments[0].id)")
            // when
            try await Self.found(bot, ["two"])
            #expect(try await Self.comment(bot, "the second", number: 2).state == .sent)
            try await Self.found(bot, ["three"])
            #expect(try await Self.comment(bot, "the third", number: 3).state == .sent)
            // then
            #expect(forge.comments.count == 2)
            expectContains(forge.comments[0].text, "error: one")
            expectContains(forge.comments[1].text, "error: three")
        }
    }

    @Test(
        .proves(
            .intake,
            "A comment stays the one while it may not be edited, while its number cannot be stored or read, and when it is tried again days later"
        ), .program("python3"))
    func testThatACommentWhoseNumberCannotBeStoredIsFound() async throws {
        try await withCommentingBot { bot, forge in
            // given
            try await SQLProgram.run(
                "CREATE TRIGGER broken BEFORE INSERT ON comments BEGIN SELECT RAISE(ABORT, 'broken'); END",
                at: bot.state.database)
            // when
            try await Self.found(bot, ["one"])
            _ = try await Self.comment(bot, number: 1) { $0.note != nil && $0.state == .waiting && $0.isUncertain }
            try await SQLProgram.run("DROP TRIGGER broken", at: bot.state.database)
            // then
            _ = try await Self.comment(bot, number: 1) { $0.state == .sent }
            #expect(forge.comments.count == 1)
        }
    }

    @Test(
        .proves(
            .intake,
            "A comment stays the one while it may not be edited, while its number cannot be stored or read, and when it is tried again days later"
        ))
    func testThatACommentWhoseNumberCannotBeReadIsFound() async throws {
        try await withCommentingBot { bot, forge in
            forge.answerNext(201, body: "<html>", at: "/issues/7/comments", isDone: true)
            try await Self.found(bot, ["one"])
            #expect(try await Self.comment(bot, "the first", number: 1).state == .sent)
            try await Self.found(bot, ["two"])
            #expect(try await Self.comment(bot, "the second", number: 2).state == .sent)
            #expect(forge.comments.count == 1)
            expectContains(forge.comments[0].text, "error: two")
        }
    }

    /// A user retries it days later.
    @Test(
        .proves(
            .intake,
            "A comment stays the one while it may not be edited, while its number cannot be stored or read, and when it is tried again days later"
        ))
    func testThatALostCommentIsLookedForSinceItCouldBeMade() async throws {
        try await withCommentingBot { bot, forge in
            // given: the answer is lost, and then it is refused for good
            try await bot.stop()
            let time = bot.time.now
            bot.transport.loseAnswer(toURLWithSuffix: "/issues/7/comments")
            forge.answerNext(422, at: "/issues/comments/1")
            try await Self.found(bot, ["one"])
            let refused = try await Self.comment(bot, number: 1) { $0.state == .givenUp }
            #expect(refused.tries > 1 && forge.comments.map(\.id) == [1])
            bot.time.advance(by: .seconds(3 * 86_400))
            _ = bot.transport.takeRequests()
            // when: its number is lost, too
            try await bot.store.setComment(
                nil, at: .init(bot: bot.name, number: 7, destination: forge.api, project: forge.project))
            _ = try await bot.store.retryMessage(refused.id, at: bot.time.now)
            _ = try await Self.comment(bot, number: 1) { $0.state == .sent }
            // then
            let list = try #require(bot.transport.takeRequests().first { $0.method == .get })
            let since = try #require(list.url.components(separatedBy: "since=").last?.removingPercentEncoding)
            #expect(since < (time + .seconds(-3000)).description, "\(since)")
            #expect(since > (time + .seconds(-7200)).description, "\(since)")
            #expect(forge.comments.count == 1)
        }
    }
}
