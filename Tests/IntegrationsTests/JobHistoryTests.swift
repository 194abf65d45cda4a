import BotSupport
import Execution
import Foundation
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs

/// The commit with which a job's own is compared, and the default branch in its `.git`.
@Suite(
    .proves(
        .jobs,
        "A job knows the commit to compare with; its `.git` has the default branch and a pull request's base, named as in a clone"
    ))
struct JobHistoryTests {
    private static let watching = "branches: ['**']\n"

    private func base(of integration: Integrated, in bot: Bot) throws -> String? {
        let attempt = try #require(integration.attempt("debug"))
        return try bot.directory(of: attempt).job().environment["MARTLET_BASE_COMMIT"]
    }

    private func origin(of integration: Integrated, in bot: Bot) async throws -> String {
        let attempt = try #require(integration.attempt("debug"))
        let tree = try bot.directory(of: attempt).job().workspace
        return try await run(
            ["git", "rev-parse", "origin/HEAD"], in: tree, environment: GitRepository.environment()
        ).stdout.replacing("\n", with: "")
    }

    @Test func testThatTheFirstOfABranchIsComparedWithWhereItPartsAndALaterWithTheOneBefore() async throws {
        try await withBot(BotPlan(file: Self.watching)) { bot in
            // given
            let main = try await bot.integrate()
            let topic = try await bot.integrate(on: "topic")
            let moved = try await bot.integrate(on: "main")
            // when
            let again = try await bot.integrate(on: "topic")
            let sibling = try await bot.integrate(on: "sibling")
            // then
            #expect(try base(of: main, in: bot) == nil)
            #expect(try base(of: topic, in: bot) == main.record.commit.description)
            #expect(try base(of: moved, in: bot) == main.record.commit.description)
            #expect(try base(of: again, in: bot) == topic.record.commit.description)
            #expect(try base(of: sibling, in: bot) == main.record.commit.description, "it was made from topic")
            #expect(try await origin(of: again, in: bot) == moved.record.commit.description)
        }
    }

    /// Otherwise a second run of a commit would see no change.
    @Test func testThatACommitIsNotComparedWithItself() async throws {
        try await withBot(BotPlan(file: Self.watching)) { bot in
            // given
            let first = try await bot.integrate()
            let second = try await bot.integrate()
            // when
            let again = try await bot.operations.integrate(bot: bot.name, revision: nil, isClean: false, by: "ada")
            let integration = try await bot.completion(of: again.id)
            // then
            #expect(integration.record.commit == second.record.commit)
            #expect(try base(of: integration, in: bot) == first.record.commit.description)
        }
    }

    /// A bot that does not watch the branch has its objects nevertheless.
    @Test func testThatTheDefaultBranchIsThereWhereTheBotDoesNotWatchIt() async throws {
        try await withBot(BotPlan(file: "branches: [topic]\n")) { bot in
            // given
            let main = try await bot.push()
            let topic = try await bot.integrate(on: "topic")
            #expect(try base(of: topic, in: bot) == main.description)
            // when
            let moved = try await bot.push(on: "main")
            let again = try await bot.integrate(on: "topic")
            // then
            #expect(try await origin(of: again, in: bot) == moved.description)
        }
    }
}
