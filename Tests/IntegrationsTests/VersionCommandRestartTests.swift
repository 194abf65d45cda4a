import Basics
import BotSupport
import Execution
import ExecutionSupport
import Glibc
import JobProtocol
import Model
import Settings
import Storage
import TestSupport
import Testing
import Transfer

@testable import Integrations
@testable import Jobs
@testable import Releases

/// A daemon that ends between the end of a version's command and the publication. The next one asks again.
@Suite struct VersionCommandRestartTests {
    private func runner(_ fixture: PublisherFixture, _ executor: ScriptedExecutor) throws -> TriggerRunner {
        let state = StateDirectory(path: fixture.directory.path)
        let secrets = SecretStore(directory: nil, credentialsDirectory: nil)
        return TriggerRunner(
            store: fixture.store, state: state, executor: executor, publisher: fixture.publisher,
            uploads: Uploads(uploader: Uploader(transport: FakeTransport()), secrets: secrets), scripts: "/nowhere",
            secrets: secrets, environment: JobEnvironment(daemon: [:], url: ""),
            isolation: JobIsolation(isolation: .none(reason: "of the test")), clock: fixture.time.clock,
            timer: ManualClock(), logger: fixture.log.logger)
    }

    /// What two daemons, one after the other, are told by one attempt.
    private func asked(printing text: String?, exit: Int32 = 0) async throws -> [Result<String, TriggerError>] {
        let answers = Locked<[Result<String, TriggerError>]>([])
        try await withPublisher { fixture in
            try fixture.directory.makeDirectory("integrations")
            let starts = Locked(0)
            let executor = ScriptedExecutor { job in
                starts.withLock { $0 += 1 }
                return ScriptedExecutor.Plan { _, _ in
                    if let text {
                        do {
                            try Directory(opening: job.workspace).write(".martlet-version", bytes: Array(text.utf8))
                        } catch { Issue.record(error) }
                    }
                    return .init(exit: exit)
                }
            }
            let request = try await fixture.request(fixture.commit("a"))
            let context = TriggerRunner.Context(
                integration: request.integration, bot: request.bot, mirror: request.mirror)
            let trigger = Trigger(
                name: try Samples.name("publish"), when: [.succeeded], action: .publish(.command("./version")))
            let log = StateDirectory.trigger(trigger.name, of: request.integration.id) + "/1"
            for _ in 1...2 {
                do {
                    let printed = try await runner(fixture, executor).printedVersion(
                        "./version", trigger, log: log,
                        as: JobDescription(steps: [], environment: [:], workspace: "/w"),
                        context, Cancellation())
                    answers.withLock { $0.append(.success(String(decoding: printed, as: UTF8.self))) }
                } catch let error as TriggerError {
                    answers.withLock { $0.append(.failure(error)) }
                }
                // Nothing of a checkout waits for the publication.
                expectNoFile(fixture.directory.path(log) + ".work")
            }
            #expect(starts.value == 1)
        }
        return answers.value
    }

    @Test(
        .proves(
            .releases,
            "Versions: `version: { file: VERSION }` and `version: { command: … }`, the latter sandboxed like a job"),
        arguments: ["1.4.0\n", nil])
    func testThatWhatItPrintedIsKept(text: String?) async throws {
        let answers = try await asked(printing: text).map { try $0.get() }
        #expect(answers == [text ?? "", text ?? ""])
    }

    @Test(
        .proves(
            .releases,
            "Versions: `version: { file: VERSION }` and `version: { command: … }`, the latter sandboxed like a job"))
    func testThatItsFailureStaysTheSame() async throws {
        for answer in try await asked(printing: "1.4.0\n", exit: 3) {
            let error = #expect(throws: TriggerError.self) { try answer.get() }
            expectContains(error?.description ?? "", "the version command failed")
        }
    }

    private static let plan = """
        branches: [main]
        triggers:
          - { name: publish, branches: [main], publish: { version: { command: ./version } } }

        """

    /// Ends a command that has begun.
    private func print(_ text: String, from attempt: AttemptDirectory, of executor: ScriptedExecutor) async throws {
        await until("its status") { access(attempt.paths.status, F_OK) == 0 }
        try Directory(opening: try attempt.job().workspace).write(".martlet-version", bytes: Array(text.utf8))
        try executor.complete(attempt)
    }

    @Test(
        .proves(
            .triggers,
            "A script or a version's command that is lost, or interrupted by the machine's stop, runs once more, and each try has its end"
        ))
    func testThatOneThatIsLostRunsOnceMoreAndEachTryHasItsEnd() async throws {
        let executor = ScriptedExecutor.holding("version")
        try await withBot(BotPlan(file: Self.plan, executor: .scripted(executor))) { bot in
            // given
            let id = try await bot.begin()
            try #require(await until("the first try") { executor.starts.count == 2 })

            // when
            executor.lose(AttemptDirectory(path: executor.starts[1]))
            try #require(await until("the second try") { executor.starts.count == 3 })
            try await print("1.4.0\n", from: AttemptDirectory(path: executor.starts[2]), of: executor)

            // then
            let integration = try await bot.completion(of: id)
            expectResult(of: integration, "succeeded")
            #expect(integration.triggers.map(\.attempt) == [1, 2])
            #expect(integration.triggers.map(\.state) == [.failed, .succeeded])
            expectContains(
                integration.triggers.first?.reason ?? "", "the command for the version was interrupted: the machine")
            try await expectPublished(by: bot, ["1.4.0"])
            #expect(try bot.triggerWork(of: id) == [])
        }
    }

    @Test(
        .proves(
            .triggers,
            "A script or a version's command that is lost, or interrupted by the machine's stop, runs once more, and each try has its end"
        ),
        .proves(
            .triggers,
            "What a trigger's job worked in goes with its end, however it ends; what a killed daemon left goes at the next start"
        ))
    func testThatOneThatIsLostTwicePublishesNothing() async throws {
        let executor = ScriptedExecutor.holding("version")
        try await withBot(BotPlan(file: Self.plan, executor: .scripted(executor))) { bot in
            // when
            let id = try await bot.begin()
            for number in 2...3 {
                try #require(await until("try \(number - 1)") { executor.starts.count == number })
                executor.lose(AttemptDirectory(path: executor.starts[number - 1]))
            }

            // then
            let integration = try await bot.completion(of: id)
            expectResult(of: integration, "trigger-error")
            expectContains(
                integration.trigger("publish")?.reason ?? "", "the command for the version was interrupted twice")
            try await expectPublished(by: bot, [])
            #expect(try bot.triggerWork(of: id) == [])
        }
    }
}
