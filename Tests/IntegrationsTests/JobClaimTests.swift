import Basics
import BotSupport
import Execution
import ExecutionSupport
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs

/// A job's claim when it requests a slot. The order of the claims is tested in `JobSlotsTests`.
@Suite struct JobClaimTests {
    @Test(
        .proves(.intake, "Slots are given by the same priority and fairness, then in the order in which jobs came"),
        arguments: [Cause.schedule, .push])
    func testThatAJobAsksAsItsBotsAndByItsIntegrationsPriority(cause: Cause) async throws {
        try await withRunningJob { bot, executor, id in
            // given: beside the integration's own job one that does not run yet, and no slot
            var record = try #require(try await bot.store.integration(id))
            record.cause = cause
            let slots = JobSlots(count: 1)
            try await slots.acquire()
            let request = try await bot.otherJob(of: record)
            let (jobs, cancellation) = (try bot.otherJobs(slots), Cancellation())

            // when
            async let attempt = jobs.run(request, cancellation: cancellation)
            await until("it waits") { !slots.waiting.isEmpty }

            // then
            let claim = slots.waiting.first
            #expect(claim?.priority == cause.priority)
            #expect(claim?.bot == bot.name)
            await cancellation.request(Cancellation.Request(reason: "enough"))
            #expect(try await attempt.state.verdict == .canceled)
            try await executor.cancel(AttemptDirectory(path: executor.starts[0]), reason: "enough", grace: .zero)
        }
    }
}
