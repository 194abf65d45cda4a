import Basics
import BotSupport
import Dispatch
import Execution
import ExecutionSupport
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs
@testable import SourceControl

/// A job in the middle of its checkout when its integration is canceled, or the daemon stops. Neither waits for all files.
@Suite(
    .proves(
        .sourceControl,
        "A checkout that is canceled, superseded or stopped ends at its next file; the next one repairs it, and build products stay"
    ))
struct CheckoutCancellationTests {
    @Test func testThatACancelInterruptsItAndNothingIsStarted() async throws {
        try await withRunningJob { bot, executor, id in
            // given
            let record = try #require(try await bot.store.integration(id))
            let request = try await bot.otherJob(of: record)
            let (jobs, cancellation) = (try bot.otherJobs(JobSlots(count: 1)), Cancellation())

            // when
            let job = try await whileBusy(request.mirror.queue) {
                let job = Task { try await jobs.run(request, cancellation: cancellation) }
                try await untilItChecksOut(request, bot)
                await cancellation.request(Cancellation.Request(reason: "enough"))
                return job
            }

            // then
            let attempt = try await job.value
            #expect(attempt.state == .processed(.canceled))
            #expect(attempt.reason == "enough")
            #expect(executor.starts.count == 1)
            let workspace = Self.workspace(of: request, bot)
            #expect(try Self.hasNoTree(workspace, bot))
            let next = await jobs.workspaces.acquire(
                bot: bot.name, configuration: request.configuration.name, domain: Workspaces.TrustDomain(record))
            #expect(next == workspace, "it was given back")
            try await executor.cancel(AttemptDirectory(path: executor.starts[0]), reason: "enough", grace: .zero)
        }
    }

    @Test func testThatAStopOfTheDaemonInterruptsItAndLeavesTheJobToTheNext() async throws {
        try await withRunningJob { bot, executor, id in
            // given
            let record = try #require(try await bot.store.integration(id))
            let request = try await bot.otherJob(of: record)
            let jobs = try bot.otherJobs(JobSlots(count: 1))

            // when
            let job = try await whileBusy(request.mirror.queue) {
                let job = Task { try await jobs.run(request, cancellation: Cancellation()) }
                try await untilItChecksOut(request, bot)
                job.cancel()
                return job
            }

            // then
            await #expect(throws: CancellationError.self) { try await job.value }
            #expect(try await isInCheckout(request, bot))
            #expect(try Self.hasNoTree(Self.workspace(of: request, bot), bot))

            // when: the next daemon gets the request to end it
            let cancellation = Cancellation()
            await cancellation.request(Cancellation.Request(reason: "enough"))
            // then
            #expect(try await jobs.run(request, cancellation: cancellation).state == .processed(.canceled))
            try await executor.cancel(AttemptDirectory(path: executor.starts[0]), reason: "enough", grace: .zero)
        }
    }

    // MARK: What it needs

    private static func workspace(of request: JobRunner.Request, _ bot: Bot) -> Workspace {
        let domain = Workspaces.TrustDomain(request.integration).rawValue
        return Workspace(path: "\(bot.state.workspaces)/\(bot.name)/\(request.configuration.name)/\(domain)/0")
    }

    private static func hasNoTree(_ workspace: Workspace, _ bot: Bot) throws -> Bool {
        let place = String(workspace.tree.dropFirst(bot.state.path.count + 1))
        return try Directory(opening: bot.state.path).status(place) == nil
    }

    private func isInCheckout(_ request: JobRunner.Request, _ bot: Bot) async throws -> Bool {
        try await bot.store.attempts(of: request.integration.id).contains {
            $0.id.job == request.configuration.name && $0.state == .running(.checkout)
        }
    }

    private func untilItChecksOut(_ request: JobRunner.Request, _ bot: Bot) async throws {
        try await until("it is in its checkout") { try await isInCheckout(request, bot) }
    }

    /// Occupies a serial queue's thread while the body runs, so that work for the queue waits for its turn.
    private func whileBusy<Value>(_ queue: SerialQueue, _ body: () async throws -> Value) async throws -> Value {
        let (isBusy, end) = (Locked(false), DispatchSemaphore(value: 0))
        let work = Task {
            await queue.run {
                isBusy.withLock { $0 = true }
                end.wait()
            }
        }
        await until("the queue is busy") { isBusy.value }
        let result: Result<Value, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        end.signal()
        await work.value
        return try result.get()
    }
}
