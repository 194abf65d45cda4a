import BotSupport
import Execution
import ExecutionSupport
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations

/// What a job says of itself when it asks for a slot; what slots make of it is `JobSlotsTests`.
@Suite struct JobClaimTests {
    @Test(arguments: [Cause.schedule, .push])
    func testThatAJobAsksAsItsBotsAndByItsIntegrationsPriority(cause: Cause) async throws {
        try await withRunningJob { bot, executor, id in
            // given: beside the integration's own job one that nobody runs yet, and no slot
            var record = try #require(try await bot.store.integration(id))
            record.cause = cause
            let slots = JobSlots(count: 1)
            try await slots.take()
            let request = try await self.request(record, of: bot)
            let (jobs, cancellation) = (try jobs(of: bot, slots), Cancellation())

            // when
            async let attempt = jobs.run(request, cancellation: cancellation)
            await until("it waits") { !slots.waiting.isEmpty }

            // then
            let claim = slots.waiting.first
            #expect(claim?.priority == cause.priority)
            #expect(claim?.bot == bot.name)
            await cancellation.request(Cancellation.Wish(reason: "enough"))
            #expect(try await attempt.state.verdict == .canceled)
            try await executor.cancel(AttemptDirectory(path: executor.starts[0]), reason: "enough", grace: .zero)
        }
    }

    private func request(_ record: IntegrationRecord, of bot: Bot) async throws -> JobRunner.Request {
        let specification = try #require(try await bot.store.specification(of: record.id))
        let remotes = Remotes(mirrors: bot.mirrors, secrets: bot.secrets)
        return JobRunner.Request(
            integration: record, bot: specification, recipe: try #require(record.recipe),
            configuration: try Samples.configuration("other"), mirror: try await remotes.mirror(for: specification),
            remotes: remotes)
    }

    private func jobs(of bot: Bot, _ slots: JobSlots) throws -> JobRunner {
        let parts = try bot.parts(try bot.store)
        return JobRunner(
            store: parts.store, state: parts.state, workspaces: Workspaces(root: parts.state.workspaces),
            executor: parts.executor, planner: JobPlanner(supervisor: parts.supervisor), slots: slots,
            archiver: ProductArchiver(state: parts.state), clock: parts.clock, timer: parts.timer,
            environment: JobEnvironment(daemon: [:], url: ""), isolation: parts.isolation, secrets: parts.secrets,
            logger: parts.logger)
    }
}
