import Basics
import BotSupport
import Execution
import ExecutionSupport
import Foundation
import Integrations
import JobProtocol
import Jobs
import Model
import Releases
import Settings
import Storage
import TestSupport
import Testing
import martlet

@Suite struct IntegrationRunnerTests {
    @Suite struct GivenTwoConfigurations {
        @Test func testThatItPublishesNothingWhenAConfigurationFails() async throws {
            try await withBot(configurations: ["debug", "release"], file: BotPlan.publishing) { bot in
                // when
                let integration = try await bot.integrate(.failing("release"), on: "release/1.0")

                // then
                expectVerdict(of: integration, .testFailures, because: "1 of 2 tests failed")
                expectSteps(of: integration, [.building: .succeeded, .testing: .succeeded], in: "debug")
                expectSteps(of: integration, [.testing: .failed, .archiving: .skipped], in: "release")
                expectTriggers(of: integration, ["publish": .skipped])
                try await expectPublished(by: bot, [])
            }
        }

        @Test func testThatTheWorstIsTheVerdictAndTheFindingOfBothIsOneIssue() async throws {
            try await withBot(configurations: ["debug", "release"]) { bot in
                // given
                let warning = "a.c:3:1: warning: unused variable 'x' [-Wunused-variable]\n"

                // when
                let integration = try await bot.integrate(
                    .playing(.building, of: "debug", output: warning)
                        .and(.playing(.building, of: "release", output: warning)))

                // then
                expectVerdict(of: integration, .warnings)
                #expect(integration.issues.map { $0.configurations.map(\.description) } == [["debug", "release"]])
                #expect(integration.summary.counts.warnings == 1)
                #expect(integration.summary.counts.tests == 4)
            }
        }

        @Test func testThatOneThatCannotBeStartedIsOurFaultAndTheOtherIsBroughtToItsEnd() async throws {
            // given: the executor refuses one of the jobs
            let executor = RefusingExecutor(refused: "release")
            try await withBot(
                BotPlan(configurations: ["debug", "release"], executor: .other(executor))
            ) { bot in
                bot.log.expectErrors(containing: "by a fault of Martlet or its machine")

                // when
                let id = try await bot.begin()
                try await until("it is given up") {
                    bot.timer.advance(by: .seconds(30))
                    return try await bot.store.integration(id)?.state.verdict != nil
                }

                // then
                let integration = try await bot.completion(of: id)
                expectVerdict(of: integration, .internalError, because: "no supervisor")
                #expect(executor.refusals.value == 10)
                expectSteps(of: integration, [.testing: .succeeded], in: "debug")
                #expect(integration.attempt("debug")?.state.verdict == .succeeded)
                #expect(integration.attempt("release")?.state.verdict == .internalError)
            }
        }
    }

    @Suite struct GivenALauncherThatIsGone {
        private func attemptPaths(of id: IntegrationID, _ bot: Bot) throws -> AttemptPaths {
            AttemptPaths(bot.state.attempt(id, job: Name(nearest: "debug"), attempt: 1))
        }

        /// There is no launcher, or one that starts no supervisor, as on a machine with too many processes.
        @Test(
            .proves(
                .intake,
                "A launcher that is gone is waited for however long, which the integration says, and one that cannot start a supervisor some minutes"
            ), arguments: [ExecutionError.Code.noLauncher, .notStarted])
        func testThatAJobWaitsForTheNextOne(code: ExecutionError.Code) async throws {
            // given
            let executor = RefusingExecutor(refused: "debug", code: code)
            try await withBot(BotPlan(executor: .other(executor))) { bot in
                let id = try await bot.begin()
                await until("three tries") {
                    bot.timer.advance(by: .seconds(30))
                    return executor.refusals.value >= 3
                }
                #expect(try await bot.store.integration(id)?.state.verdict == nil)

                // when
                executor.isRefusing.withLock { $0 = false }
                try await until("it starts") {
                    bot.timer.advance(by: .seconds(30))
                    return try await bot.store.integration(id)?.state.verdict != nil
                }

                // then
                let integration = try await bot.completion(of: id)
                expectVerdict(of: integration, .succeeded)
                #expect(integration.attempts.count == 1)
            }
        }

        @Test(
            .proves(
                .intake,
                "A launcher that is gone is waited for however long, which the integration says, and one that cannot start a supervisor some minutes"
            ))
        func testThatItIsWaitedForHoweverLongAndSaidMeanwhile() async throws {
            let executor = RefusingExecutor(refused: "debug", code: .noLauncher)
            try await withBot(BotPlan(executor: .other(executor))) { bot in
                // given: longer than the start of a supervisor is retried
                let id = try await bot.begin()
                await until("many tries") {
                    bot.timer.advance(by: .seconds(30))
                    return executor.refusals.value >= 12
                }
                try await bot.wait("what it waits for") { store in
                    let reason = try await store.integration(id)?.reason ?? ""
                    let isSaid = reason.contains("a job waits to be started: ") && reason.contains("no supervisor")
                    return isSaid ? true : nil
                }

                // when: the next daemon waits, too
                try await bot.restart()
                let before = executor.refusals.value
                await until("a try of its own") {
                    bot.timer.advance(by: .seconds(30))
                    return executor.refusals.value > before
                }
                executor.isRefusing.withLock { $0 = false }
                try await until("it starts") {
                    bot.timer.advance(by: .seconds(30))
                    return try await bot.store.integration(id)?.state.verdict != nil
                }

                // then
                let integration = try await bot.completion(of: id)
                expectVerdict(of: integration, .succeeded)
                #expect(integration.record.reason == nil)
                #expect(integration.attempts.count == 1)
            }
        }

        @Test(
            .proves(
                .intake,
                "A launcher that is gone is waited for however long, which the integration says, and one that cannot start a supervisor some minutes"
            ))
        func testThatWhatWasSaidOfTheWaitIsNotSaidAfterARestart() async throws {
            let executor = RefusingExecutor(refused: "debug", code: .noLauncher)
            try await withBot(BotPlan(executor: .other(executor))) { bot in
                // given
                let id = try await bot.begin()
                try await bot.wait("what it waits for") { store in
                    try await store.integration(id)?.reason == nil ? nil : true
                }
                try await bot.stop()

                // when
                executor.isRefusing.withLock { $0 = false }
                try await bot.start()

                // then
                let integration = try await bot.completion(of: id)
                expectVerdict(of: integration, .succeeded)
                #expect(integration.record.reason == nil)
            }
        }

        @Test(
            .proves(.jobs, "A start that is given up is withdrawn; one that comes late is taken up, or never begins"),
            .proves(
                .intake,
                "A launcher that is gone is waited for however long, which the integration says, and one that cannot start a supervisor some minutes"
            ))
        func testThatOneThatStartsNothingIsOurFaultAndSaid() async throws {
            let executor = RefusingExecutor(refused: "debug", code: .notStarted)
            try await withBot(BotPlan(executor: .other(executor))) { bot in
                bot.log.expectErrors(containing: "by a fault of Martlet or its machine")
                let id = try await bot.begin()
                try await until("it is given up") {
                    bot.timer.advance(by: .seconds(30))
                    return try await bot.store.integration(id)?.state.verdict != nil
                }
                expectVerdict(of: try await bot.completion(of: id), .internalError, because: "no supervisor")
                #expect(executor.refusals.value == 10)
                // A stopped launcher finds that the job is no longer requested.
                #expect(access(try attemptPaths(of: id, bot).cancel, F_OK) == 0)
            }
        }

        @Test(
            .proves(
                .intake,
                "A launcher that is gone is waited for however long, which the integration says, and one that cannot start a supervisor some minutes"
            ))
        func testThatWhatIsTooLargeIsNotTriedAgain() async throws {
            let executor = RefusingExecutor(refused: "debug", code: .overLimit)
            try await withBot(BotPlan(executor: .other(executor))) { bot in
                bot.log.expectErrors(containing: "by a fault of Martlet or its machine")
                expectVerdict(of: try await bot.integrate(), .internalError, because: "no supervisor")
                #expect(executor.refusals.value == 1)
            }
        }

        @Test func testThatCancelingEndsTheWait() async throws {
            let executor = RefusingExecutor(refused: "debug", code: .noLauncher)
            try await withBot(BotPlan(executor: .other(executor))) { bot in
                let id = try await bot.begin()
                await until("the first try") { executor.refusals.value == 1 }
                try await bot.operations.cancel(id, by: "ada")
                expectVerdict(of: try await bot.completion(of: id), .canceled, because: "canceled by ada")
                #expect(access(try attemptPaths(of: id, bot).cancel, F_OK) == 0)
            }
        }
    }

    @Suite struct GivenABranchWithHistory {
        @Test func testThatIssuesAreNewThenUnresolvedThenResolvedWithTheirChange() async throws {
            try await withBot(configurations: ["debug"]) { bot in
                // when
                let first = try await bot.integrate(.succeeding)
                let broken = try await bot.integrate(.failing("debug"))
                let still = try await bot.integrate(.failing("debug"))
                let fixed = try await bot.integrate(.succeeding)

                // then
                expectIssues(of: first, [])
                expectIssues(of: broken, ["new test-failure 2 is not 3"])
                expectIssues(of: still, ["unresolved test-failure 2 is not 3"])
                expectIssues(of: fixed, ["resolved test-failure 2 is not 3"])
                #expect([first, broken, still, fixed].map(\.summary.change.testFailures) == [0, 1, 0, -1])
                #expect(still.issues.map(\.age) == [2])
            }
        }

        @Test func testThatABuildThatFailsResolvesNothing() async throws {
            try await withBot(configurations: ["debug"]) { bot in
                // given
                try await bot.integrate(.failing("debug"))

                // when
                let unbuilt = try await bot.integrate(
                    .playing(.building, of: "debug", output: "a.c:1:1: error: no\n", exit: 1))

                // then
                expectIssues(of: unbuilt, ["new error a.c:1: no", "unresolved test-failure 2 is not 3"])
            }
        }

        @Test func testThatARecipeWithErrorsResolvesNothing() async throws {
            try await withBot(configurations: ["debug"]) { bot in
                // given
                try await bot.integrate(.failing("debug"))

                // when
                let refused = try await bot.integrate(Commit(files: [".martlet.yml": "configurations: 1\n"]))

                // then
                expectVerdict(of: refused, .buildErrors, because: ".martlet.yml:1:")
                #expect(refused.record.subject == "Change")
                #expect(refused.record.author?.isEmpty == false)
                #expect(refused.issues.map(\.status).sorted { $0.rawValue < $1.rawValue } == [.new, .unresolved])
                #expect(refused.attempts.isEmpty)
            }
        }

        @Test func testThatBranchesAreComparedApart() async throws {
            try await withBot(configurations: ["debug"], file: "branches: [main, topic]\n") { bot in
                // given
                try await bot.integrate(.failing("debug"), on: "main")

                // when
                let first = try await bot.integrate(.failing("debug"), on: "topic")
                let fixed = try await bot.integrate(.succeeding, on: "main")
                let second = try await bot.integrate(.failing("debug"), on: "topic")

                // then: the branch began with the failure, and the fix on main does not change the branch
                expectIssues(of: first, ["unresolved test-failure 2 is not 3"])
                expectIssues(of: fixed, ["resolved test-failure 2 is not 3"])
                expectIssues(of: second, ["unresolved test-failure 2 is not 3"])
            }
        }
    }

    @Test func testThatEveryCommitThatWasATipWhenAskedIsIntegratedOnceInOrder() async throws {
        try await withBot(configurations: ["debug"]) { bot in
            // given
            var commits: [CommitID] = []

            // when
            for number in 1...5 {
                commits.append(try await bot.integrate(Commit(files: ["n": "\(number)"])).record.commit)
                try await bot.announce()
                try await bot.announce()
            }
            try await bot.idle()

            // then
            let all = try await bot.store.integrations().items
            #expect(all.map(\.id.number) == [5, 4, 3, 2, 1])
            #expect(all.reversed().map(\.commit) == commits)
        }
    }

    /// The scheduler's view of the store is as old as its last read, so it may offer an integration that has just ended.
    @Test func testThatACompletedIntegrationIsNotRunAgain() async throws {
        let executor = ScriptedExecutor.playing()
        try await withBot(BotPlan(executor: .scripted(executor))) { bot in
            // given
            let done = try await bot.integrate()
            let runner = try runner(of: bot)

            // when
            let ending = await runner.run(done.id, cancellation: Cancellation())

            // then
            #expect(ending == .stored)
            #expect(try await bot.store.integration(done.id) == done.record)
            #expect(executor.starts.count == 1)
        }
    }

    private func runner(of bot: Bot) throws -> IntegrationRunner {
        let parts = try bot.parts(try bot.store)
        let environment = JobEnvironment(daemon: [:], url: "")
        let publisher = Publisher(
            store: parts.store, versions: try VersionStore(files: bot.state.files, staging: bot.state.staging),
            clock: parts.clock, logger: parts.logger)
        return IntegrationRunner(
            store: parts.store,
            registry: BotRegistry(
                directory: parts.directory, settings: parts.settings, secrets: parts.secrets,
                isolation: parts.isolation.isolation, version: ""),
            remotes: Remotes(mirrors: parts.mirrors, secrets: parts.secrets),
            jobs: JobRunner(
                store: parts.store, state: parts.state, workspaces: Workspaces(root: parts.state.workspaces),
                executor: parts.executor, planner: JobPlanner(tools: parts.tools), reader: parts.reader,
                slots: JobSlots(count: 1),
                archiver: ProductArchiver(state: parts.state), clock: parts.clock, timer: parts.timer,
                environment: environment, isolation: parts.isolation, secrets: parts.secrets, logger: parts.logger),
            triggers: TriggerRunner(
                store: parts.store, state: parts.state, executor: parts.executor, publisher: publisher,
                uploads: parts.uploader, scripts: parts.settings.triggers, secrets: parts.secrets,
                environment: environment, isolation: parts.isolation, clock: parts.clock, timer: parts.timer,
                logger: parts.logger),
            circuitBreaker: CircuitBreaker(clock: parts.clock, timer: parts.timer, signal: Signal()),
            clock: parts.clock,
            logger: parts.logger)
    }

    @Test func testThatSecretsGoToTheTriggerThatNamesThemAndIntoNoFile() async throws {
        let executor = ScriptedExecutor.playing()
        let plan = BotPlan(
            file: """
                triggers:
                  - { name: tell, run: tell, secrets: [office-token] }
                  - { name: other, run: tell }

                """, scripts: ["tell": "#!/bin/sh\n"], executor: .scripted(executor))
        try await withBot(plan) { bot in
            // given
            try bot.secrets.set("office-token", "hunter2-hunter2")

            // when
            let integration = try await bot.integrate()

            // then
            expectTriggers(of: integration, ["tell": .succeeded, "other": .succeeded])
            let secrets = executor.starts.map { executor.secrets(of: AttemptDirectory(path: $0)) }
            #expect(secrets == [[:], ["MARTLET_SECRET_OFFICE_TOKEN": "hunter2-hunter2"], [:]])
            let grep = try await run(["grep", "-rl", "hunter2-hunter2", bot.state.path])
            #expect(grep.stdout == "", "files of the state directory")
        }
    }

    @Test func testThatASecretThatIsNotSetGetsASentence() async throws {
        let plan = BotPlan(
            file: "triggers: [{ name: tell, run: tell, secrets: [office-token] }]\n", scripts: ["tell": "#!/bin/sh\n"])
        try await withBot(plan) { bot in
            let integration = try await bot.integrate()
            expectResult(of: integration, "trigger-error")
            expectContains(integration.trigger("tell")?.reason ?? "", "martlet secret set office-token")
            #expect(try bot.triggerWork(of: integration.id) == [])
        }
    }

    @Test func testThatAScriptThatIsNotThereGetsASentence() async throws {
        try await withBot(BotPlan(file: "triggers: [{ name: tell, run: tell }]\n")) { bot in
            let integration = try await bot.integrate()
            expectResult(of: integration, "trigger-error")
            expectContains(integration.trigger("tell")?.reason ?? "", "chmod +x")
        }
    }

    @Test func testThatABotWhoseFileIsRemovedTakesNoMorePushes() async throws {
        try await withBot(configurations: ["debug"]) { bot in
            // given
            try await bot.integrate()
            try bot.directory.directory().remove("bots/kit.yml")
            bot.timer.advance(by: .seconds(1))
            await until("the bot is gone") { (try? await bot.operations.overview().bots.isEmpty) ?? false }

            // when, then
            await expectRejection(OperationError.self, \.code, .unauthenticated) { try await bot.announce() }
        }
    }
}
