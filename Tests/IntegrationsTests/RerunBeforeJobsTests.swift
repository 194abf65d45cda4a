import BotSupport
import ExecutionSupport
import Integrations
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

/// A rerun that ends before its jobs: its attempts were queued with it.
@Suite struct RerunBeforeJobsTests {
    private enum Guard { case lets, holds, fails }

    /// A bot whose script before the jobs does what the test says, and an integration of it with a failing test.
    private func withGuard(
        _ body: (Bot, Locked<Guard>, ScriptedExecutor, Integrated) async throws -> Void
    ) async throws {
        let does = Locked(Guard.lets)
        let playing = ScriptedExecutor.playing()
        let executor = ScriptedExecutor { job in
            guard job.steps.first?.name == "guard" else { return playing.plan(job) }
            let does = does.value
            guard does != .holds else { return nil }
            return ScriptedExecutor.Plan { _, _ in ScriptedExecutor.Play(exit: does == .fails ? 1 : 0) }
        }
        let plan = BotPlan(
            file: "triggers: [{ name: guard, phase: before, run: guard }]\n", scripts: ["guard": "#!/bin/sh\n"],
            executor: .scripted(executor))
        try await withBot(plan) { bot in
            let first = try await bot.integrate(.failing("debug"))
            expectVerdict(of: first, .testFailures)
            try await body(bot, does, executor, first)
        }
    }

    @Test func testThatItsJobsAreNotRunLater() async throws {
        try await withGuard { bot, does, executor, first in
            // given
            does.withLock { $0 = .holds }
            let starts = executor.starts.count
            _ = try await bot.operations.rerun(first.id, Rerun(), by: "ada")
            await until("the script begins") { executor.starts.count == starts + 1 }

            // when
            try await bot.operations.cancel(first.id, by: "bob")

            // then: what was there shows, and nothing waits
            let canceled = try await bot.completion(of: first.id)
            expectVerdict(of: canceled, .canceled, because: "canceled by bob")
            #expect(canceled.attempts == first.attempts)
            #expect(canceled.tests == first.tests)

            // and a later run makes an attempt of its own
            does.withLock { $0 = .lets }
            _ = try await bot.operations.rerun(first.id, Rerun(), by: "ada")
            let again = try await bot.completion(of: first.id)
            #expect(again.attempts.map(\.run) == [1, 3])
            #expect(again.attempts.map(\.id.attempt) == [1, 2])
        }
    }

    @Test func testThatWhatWasFoundRemains() async throws {
        try await withGuard { bot, does, _, first in
            // given
            does.withLock { $0 = .fails }

            // when
            _ = try await bot.operations.rerun(first.id, Rerun(), by: "ada")
            let again = try await bot.completion(of: first.id)

            // then
            expectVerdict(of: again, .canceled)
            #expect(again.summary.counts == first.summary.counts)
            #expect(again.issues.filter { $0.finding.category == .testFailure } == first.issues)
            #expect(again.issues.contains { $0.finding.category == .triggerError })
            #expect(again.tests == first.tests)
            #expect(again.attempts == first.attempts)
        }
    }
}
