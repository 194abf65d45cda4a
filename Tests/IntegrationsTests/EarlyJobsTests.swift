import Basics
import BotSupport
import Execution
import ExecutionSupport
import JobProtocol
import Model
import Settings
import Storage
import TestSupport
import Testing

@testable import Integrations

/// Jobs that are made ready while it is stored that their integration begins.
@Suite struct EarlyJobsTests {
    @Test func testThatTheyHaveEverythingButTheirStart() async throws {
        try await withRunningJob { bot, executor, id in
            // given
            let record = try #require(try await bot.store.integration(id))
            let request = try await bot.otherJob(of: record)
            let (slots, job) = (JobSlots(count: 1), request.configuration.name)
            let jobs = try bot.otherJobs(slots)
            let before = try await bot.store.attempts(of: id)

            // when
            let early = Self.begin(jobs, request)
            let ready = await early.take(job)?.value

            // then
            let made = try #require(ready)
            let content = try #require(try made.content.get())
            #expect(!content.plan.steps.isEmpty)
            let attempt = jobs.directory(of: AttemptID(integration: id, job: job, attempt: 1))
            #expect(try attempt.job().workspace == made.workspace.tree)
            #expect(try Directory(opening: made.workspace.tree).status(".git") != nil)
            #expect(try attempt.liveness() == .notStarted)
            #expect(executor.starts.count == 1, "nothing but the integration's own job")
            #expect(try await bot.store.attempts(of: id) == before, "nothing is stored")
            #expect(!slots.takeFree(), "its slot is whose the job is now")

            await jobs.giveBack(made.workspace)
            await early.giveBack()
            try await executor.cancel(AttemptDirectory(path: executor.starts[0]), reason: "enough", grace: .zero)
        }
    }

    @Test func testThatNoMoreAreMadeReadyThanThereAreSlots() async throws {
        try await withRunningJob { bot, executor, id in
            // given: no slot is free
            let record = try #require(try await bot.store.integration(id))
            let request = try await bot.otherJob(of: record)
            let slots = JobSlots(count: 1)
            #expect(slots.takeFree())
            let jobs = try bot.otherJobs(slots)

            // when
            let early = Self.begin(jobs, request)

            // then
            #expect(early.jobs.isEmpty)
            #expect(early.take(request.configuration.name) == nil)
            #expect(await Self.next(jobs, request).isFirst, "no workspace was taken")

            try await executor.cancel(AttemptDirectory(path: executor.starts[0]), reason: "enough", grace: .zero)
        }
    }

    @Test func testThatWhatNobodyTookIsGivenBack() async throws {
        try await withRunningJob { bot, executor, id in
            // given
            let record = try #require(try await bot.store.integration(id))
            let request = try await bot.otherJob(of: record)
            let slots = JobSlots(count: 1)
            let jobs = try bot.otherJobs(slots)
            let early = Self.begin(jobs, request)
            #expect(early.jobs == [request.configuration.name])

            // when
            await early.giveBack()
            await early.giveBack()

            // then
            #expect(early.take(request.configuration.name) == nil)
            #expect(slots.takeFree())
            #expect(!slots.takeFree(), "given back once")
            #expect(await Self.next(jobs, request).isFirst)

            try await executor.cancel(AttemptDirectory(path: executor.starts[0]), reason: "enough", grace: .zero)
        }
    }

    /// However it was made ready: of a commit that was fetched, of one that was here, and not early at all.
    @Test func testThatAJobIsToldTheSameOfItsCommit() async throws {
        try await withBot { bot in
            // given
            let fetched = try await bot.integrate()
            let time = try #require(fetched.record.committedAt).millisecondsSinceEpoch / 1000

            // when
            let here = try await bot.operations.integrate(
                bot: bot.name, revision: fetched.record.commit.description, isClean: false, by: "ada")
            let asked = try await bot.completion(of: here.id)
            _ = try await bot.operations.rerun(fetched.id, Rerun(), by: "ada")
            let rerun = try await bot.completion(of: fetched.id)

            // then
            func environment(_ integration: Integrated) throws -> [String: String] {
                let attempt = try #require(integration.attempts.last { $0.id.job == Name(nearest: "debug") })
                return try bot.directory(of: attempt).job().environment
            }
            let (first, second, third) = try (environment(fetched), environment(asked), environment(rerun))
            #expect(first["SOURCE_DATE_EPOCH"] == "\(time)")
            #expect(second["SOURCE_DATE_EPOCH"] == "\(time)")
            #expect(rerun.attempts.count == 2)
            #expect(third == first)
        }
    }

    // MARK: What it needs

    private static func begin(_ jobs: JobRunner, _ request: JobRunner.Request) -> EarlyJobs {
        var recipe = request.recipe
        var configuration = request.configuration
        configuration.build = "true"
        recipe.configurations = [configuration]
        let details = CommitSummary(
            subject: "", author: "", committedAt: request.integration.queuedAt,
            tree: request.integration.commit.description)
        let early = EarlyJobs(jobs)
        var preparation = Store.Preparation(recipe: recipe, commit: details, step: .running)
        early.begin(
            request.integration, &preparation, bot: request.bot, mirror: request.mirror, remotes: request.remotes,
            isWithoutSubmodules: true, cancellation: Cancellation())
        #expect(preparation.begun == early.jobs)
        return early
    }

    /// The workspace that the next job of the configuration gets.
    private static func next(_ jobs: JobRunner, _ request: JobRunner.Request) async -> Workspace {
        await jobs.workspaces.take(
            bot: request.bot.name, configuration: request.configuration.name,
            lane: Workspaces.Lane(request.integration))
    }
}

extension Workspace {
    fileprivate var isFirst: Bool { path.hasSuffix("/0") }
}
