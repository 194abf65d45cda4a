import BotSupport
import ExecutionSupport
import Integrations
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

/// A rerun that ends before its jobs. Its attempts were queued with it.
@Suite struct RerunBeforeJobsTests {
    private enum Guard { case lets, holds, fails }

    /// Runs a test with a bot whose script before the jobs behaves as the test decides, and an integration of it with a failing test.
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

    @Test(.proves(.programs, "`rerun`: further attempts of one integration, the newest counts"))
    func testThatItsJobsAreNotRunLater() async throws {
        try await withGuard { bot, does, executor, first in
            // given
            does.withLock { $0 = .holds }
            let starts = executor.starts.count
            _ = try await bot.operations.rerun(first.id, Rerun(), by: "ada")
            await until("the script begins") { executor.starts.count == starts + 1 }

            // when
            try await bot.operations.cancel(first.id, by: "bob")

            // then: the earlier results are shown, and nothing waits
            let canceled = try await bot.completion(of: first.id)
            expectVerdict(of: canceled, .canceled, because: "canceled by bob")
            #expect(canceled.attempts == first.attempts)
            #expect(canceled.tests == first.tests)

            // A later run makes an attempt of its own
            does.withLock { $0 = .lets }
            _ = try await bot.operations.rerun(first.id, Rerun(), by: "ada")
            let again = try await bot.completion(of: first.id)
            #expect(again.attempts.map(\.run) == [1, 3])
            #expect(again.attempts.map(\.id.attempt) == [1, 2])
        }
    }

    @Test(.proves(.programs, "`rerun`: further attempts of one integration, the newest counts"))
    func testThatWhatWasFoundRemains() async throws {
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

    @Test(.proves(.jobs, "A cancellation request a rerun that somebody else took back meets no later one"))
    func testThatManyWhoTakeOneBackLeaveNoRequestForTheNext() async throws {
        let executor = ScriptedExecutor.playing { $0.environment["MARTLET_INTEGRATION_NUMBER"] == "2" }
        try await withBot(BotPlan(executor: .scripted(executor))) { bot in
            // given: a rerun that waits for the end of an earlier integration of its branch
            let first = try await bot.integrate()
            let second = try await bot.begin(Commit(files: ["n": "2"]))
            _ = try await bot.attempt(of: second)
            _ = try await bot.operations.rerun(first.id, Rerun(), by: "ada")

            // when
            let operations = try bot.operations
            let refusals = await withTaskGroup(of: OperationError.Code?.self) { group in
                for person in 1...8 {
                    group.addTask {
                        do throws(OperationError) {
                            try await operations.cancel(first.id, by: "person \(person)")
                            return nil
                        } catch {
                            return error.code
                        }
                    }
                }
                return await group.reduce(into: [OperationError.Code?]()) { $0.append($1) }
            }

            // then: one did, and the others are refused
            #expect(refusals.filter { $0 == nil }.count == 1)
            #expect(refusals.filter { $0 == .conflict }.count == 7)

            // The next one is not canceled
            _ = try await bot.operations.rerun(first.id, Rerun(), by: "ada")
            try await bot.operations.cancel(second, by: "ada")
            _ = try await bot.completion(of: second)
            let again = try await bot.completion(of: first.id)
            expectVerdict(of: again, .succeeded)
            #expect(again.record.run == 2)
        }
    }
}
