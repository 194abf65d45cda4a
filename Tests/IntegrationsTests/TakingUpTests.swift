import Basics
import BotSupport
import Execution
import ExecutionSupport
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations

/// What a daemon makes of jobs that one before it started.
@Suite struct TakingUpTests {
    /// As a loss of power leaves it: the supervisor is gone, and its `job.json` never came to the disk.
    @Test(arguments: ["", nil])
    func testThatAnAttemptWhoseJobNeverCameToTheDiskIsLostAndRunsOnceMore(text: String?) async throws {
        let executor = ScriptedExecutor()
        try await withBot(BotPlan(executor: .scripted(executor))) { bot in
            // given
            let id = try await bot.begin()
            await until("the first attempt") { executor.starts.count == 1 }
            try await bot.stop()
            let first = AttemptDirectory(path: executor.starts[0])
            executor.lose(first)
            let directory = try Directory(opening: first.path)
            try directory.remove("job.json")
            if let text { try directory.write("job.json", bytes: Array(text.utf8)) }
            let workspaces = bot.state.workspaces + "/kit/debug"
            try Directory(opening: workspaces).write("built", bytes: [])

            // when
            try await bot.start()
            await until("the second attempt") { executor.starts.count == 2 }

            // then
            #expect(try Directory(opening: workspaces).status("built") == nil)
            executor.lose(AttemptDirectory(path: executor.starts[1]))
            let integration = try await bot.completion(of: id)
            expectVerdict(of: integration, .internalError, because: "the supervisor was lost")
            #expect(integration.attempts.count == 2)
        }
    }

    @Test func testThatAWishThatADaemonLeftEndsTheJobThatStillRuns() async throws {
        let executor = ScriptedExecutor()
        try await withBot(BotPlan(executor: .scripted(executor))) { bot in
            // given
            let id = try await bot.begin()
            await until("the attempt") { executor.starts.count == 1 }
            try await bot.stop()
            try await CancelWishes(state: bot.state).store(
                Cancellation.Wish(reason: "ada wants it"), for: id, run: 1)

            // when
            try await bot.start()

            // then
            let integration = try await bot.completion(of: id)
            expectVerdict(of: integration, .canceled, because: "ada wants it")
            #expect(integration.attempts.map(\.state.verdict) == [.canceled])
            #expect(try await executor.liveness(of: AttemptDirectory(path: executor.starts[0])) == .finished)
        }
    }

    @Test func testThatAScriptThatIsLostRunsOnceMoreAndEachTryHasItsEnd() async throws {
        let executor = ScriptedExecutor.playing { $0.steps.first?.name == "tell" }
        try await withBot(
            BotPlan(
                file: "triggers: [{ name: tell, run: tell }]\n", scripts: ["tell": "#!/bin/sh\n"],
                executor: .scripted(executor))
        ) { bot in
            // given
            let id = try await bot.begin()
            for number in 2...3 {
                await until("try \(number - 1)") { executor.starts.count == number }

                // when
                executor.lose(AttemptDirectory(path: executor.starts[number - 1]))
            }

            // then
            let integration = try await bot.completion(of: id)
            expectResult(of: integration, "trigger-error")
            #expect(integration.triggers.map(\.attempt) == [1, 2])
            #expect(integration.triggers.map(\.state) == [.failed, .failed])
            let reasons = integration.triggers.map { $0.reason ?? "" }
            expectContains(
                reasons[0], "the script was interrupted: the machine was stopping, or its supervisor was lost")
            expectContains(reasons[1], "the script was interrupted twice")
            #expect(integration.triggers.allSatisfy { $0.endedAt != nil })
        }
    }

    @Test func testThatACommitIsHeldWhenItsJobHasEnded() async throws {
        try await withBot(configurations: ["debug"]) { bot in
            // when
            let integration = try await bot.integrate()

            // then
            let mirrors = try Directory(opening: bot.state.repositories)
            let mirror = try #require(try mirrors.entries().first { $0.kind == .directory }).name
            #expect(try mirrors.status("\(mirror)/refs/martlet/kit/\(integration.id.number)") != nil)
        }
    }

    /// Its source is in the repository.
    @Test func testThatACommitOfWhichNothingIsKeptIsNotPacked() async throws {
        let recipe = "configurations:\n  debug: { build: sh play building, test: sh play testing }\nanalyze: []\n"
        try await withBot(BotPlan(recipe: recipe, file: BotPlan.publishing)) { bot in
            // when, then: the bot has a trigger
            let kept = try await bot.integrate()
            #expect(try await bot.store.artifacts(of: kept.id).map(\.artifact.path).count == 1)
        }
        try await withBot(BotPlan(recipe: recipe)) { bot in
            // when, then: nobody would look at it
            let integration = try await bot.integrate()
            expectVerdict(of: integration, .succeeded)
            #expect(try await bot.store.artifacts(of: integration.id).isEmpty)
        }
    }
}
