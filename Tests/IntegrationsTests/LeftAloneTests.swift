import BotSupport
import Execution
import ExecutionSupport
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

/// The jobs of an integration that has crashed the daemon repeatedly and is failed.
@Suite struct LeftAloneTests {
    @Test(
        .proves(
            .intake,
            "A job of an integration that is left alone is ended, also by the next daemon; its slot and its workspace go to the next one"
        ))
    func testThatAJobThatStillRunsIsEndedAndItsSlotAndWorkspaceAreAnothers() async throws {
        try await withRunningJob(BotPlan(concurrency: 1)) { bot, executor, id in
            // given: a job runs, and its daemon trapped three times
            bot.log.expectErrors(containing: "left alone")
            let left = AttemptDirectory(path: try #require(executor.starts.first))
            try await bot.stop()
            try bot.directory.write("state/crashes", "test\n3 integration \(id)\n")

            // when
            try await bot.start()
            expectVerdict(of: try await bot.completion(of: id), .internalError, because: "ended 3 times by a fault")
            let next = try await bot.begin()
            await until("the next integration's attempt") { executor.starts.count == 2 }

            // then
            #expect(try await executor.liveness(of: left) == .finished)
            #expect(try await bot.store.attempts(of: id).map(\.state.verdict) == [.internalError])
            let job = AttemptDirectory(path: try #require(executor.starts.last))
            #expect(try job.job().workspace == left.job().workspace)
            try await executor.cancel(job, reason: "enough", grace: .zero)
            expectVerdict(of: try await bot.completion(of: next), .canceled)
        }
    }
}
