import Basics
import BotSupport
import Execution
import ExecutionSupport
import Foundation
import Glibc
import Integrations
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

/// Failures and stops in the middle of an integration.
@Suite struct LifecycleTests {
    /// Returns a commit with a test step that waits for the file `go` in the test's directory, and records each run.
    private func waiting(_ bot: Bot) -> Commit {
        .running(
            .testing, of: "debug",
            script: """
                echo waiting; echo run >>\(bot.directory.path("runs"))
                while [ ! -f \(bot.directory.path("go")) ]; do sleep 0.02; done
                """)
    }

    @Suite struct GivenARepositoryThatIsGone {
        @Test(.proves(.badInput, "A repository that does not exist is reported"))
        func testThatTheServiceSaysSoAndGoesOnWhenItReturns() async throws {
            try await withBot(configurations: ["debug"]) { bot in
                // given
                try await bot.integrate()
                try FileManager.default.moveItem(atPath: bot.remote.path, toPath: bot.remote.path + ".away")

                // when
                try await bot.announce()
                let url = bot.remote.path
                let error = try await bot.wait("the failed scan") { try await $0.repository(url)?.lastError }

                // then
                expectContains(error, url)
                try FileManager.default.moveItem(atPath: bot.remote.path + ".away", toPath: bot.remote.path)
                expectResult(of: try await bot.integrate(), "succeeded")
                #expect(try await bot.store.repository(url)?.lastError == nil)
            }
        }

        @Test func testThatAPersonGetsASentence() async throws {
            try await withBot(configurations: ["debug"]) { bot in
                // given
                try await bot.integrate()
                try FileManager.default.removeItem(atPath: bot.remote.path)

                // when
                let error = await expectRejection(OperationError.self, \.code, .unavailable) {
                    try await bot.operations.integrate(bot: bot.name, revision: nil, isClean: false, by: "ada")
                }

                // then
                expectContains(error?.message ?? "", "there is no git repository at this path")
            }
        }
    }

    @Suite struct GivenARefThatIsGone {
        /// The second commit waits for the first; its branch is deleted meanwhile.
        @Test(.proves(.badInput, "A ref that is gone is reported"))
        func testThatItsIntegrationIsCanceledWithTheReason() async throws {
            let executor = ScriptedExecutor.playing { job in
                FileManager.default.fileExists(atPath: job.workspace + "/hold")
            }
            try await withBot(BotPlan(file: "branches: [main, topic]\n", executor: .scripted(executor))) { bot in
                // given
                let first = try await bot.begin(Commit(files: ["hold": ""]), on: "topic")
                let attempt = try await bot.attempt(of: first)
                await until("the job begins") { !executor.starts.isEmpty }
                // A scan fetches nothing into a damaged mirror. Otherwise the commit would be here.
                let mirrors = try Directory(opening: bot.state.repositories)
                let mirror = try #require(try mirrors.entries().first?.name)
                try mirrors.write(mirror + "/martlet-damaged", bytes: [])
                let second = try await bot.begin(Commit(files: ["second": ""]), on: "topic")
                try await bot.remote.git("update-ref", "-d", "refs/heads/topic")

                // when
                try executor.leave([0x78], at: "artifacts/products/tool", of: bot.directory(of: attempt))
                try executor.write(
                    .finished(at: 0, result: .completed, reason: nil, limit: nil, step: nil),
                    of: bot.directory(of: attempt))

                // then
                expectVerdict(of: try await bot.completion(of: second), .canceled, because: "ref gone")
                expectVerdict(of: try await bot.completion(of: first), .succeeded)
            }
        }
    }

    @Suite struct WhenAPersonCancels {
        private let outer = LifecycleTests()

        @Test(
            .proves(.jobs, "Cancel, with its reason"),
            .proves(
                .intake,
                "`cancel` with grace, in every state: queued, preparing, before-triggers, running, after-triggers, uploading"
            ))
        func testThatARunningJobEndsWithAllItsProcessesAndKeepsItsLog() async throws {
            try await withBot(local) { bot in
                // given
                let id = try await bot.begin(outer.waiting(bot))
                let attempt = try await bot.attempt(of: id, at: .testing)
                await until("it runs") { (try? bot.log(of: attempt).contains("waiting")) ?? false }

                // when
                try await bot.operations.cancel(id, by: "ada")

                // then
                let integration = try await bot.completion(of: id)
                expectVerdict(of: integration, .canceled, because: "canceled by ada")
                expectSteps(of: integration, [.building: .succeeded])
                expectContains(try bot.log(of: attempt), "waiting")
                #expect(bot.jobProcesses.isEmpty)
                await expectRejection(OperationError.self, \.code, .conflict) {
                    try await bot.operations.cancel(id, by: "ada")
                }
            }
        }

        @Test(
            .proves(
                .intake,
                "`cancel` with grace, in every state: queued, preparing, before-triggers, running, after-triggers, uploading"
            ))
        func testThatAQueuedIntegrationNeverStarts() async throws {
            try await withBot(local) { bot in
                // given: one ref has one integration at a time
                let first = try await bot.begin(outer.waiting(bot))
                _ = try await bot.attempt(of: first, at: .testing)
                let second = try await bot.begin(Commit(files: ["second": ""]))

                // when
                try await bot.operations.cancel(second, by: "ada")

                // then
                let integration = try await bot.completion(of: second)
                expectVerdict(of: integration, .canceled, because: "canceled by ada")
                #expect(integration.attempts.isEmpty)
                try bot.directory.write("go", "")
                expectVerdict(of: try await bot.completion(of: first), .succeeded)
            }
        }

        @Test(.proves(.jobs, "Cancel, with its reason"))
        func testThatTheRequestOutlivesTheDaemon() async throws {
            try await withBot(local) { bot in
                // given
                let id = try await bot.begin(outer.waiting(bot))
                _ = try await bot.attempt(of: id, at: .testing)

                // when
                try await bot.operations.cancel(id, by: "ada")
                try await bot.restart()

                // then
                expectVerdict(of: try await bot.completion(of: id), .canceled, because: "canceled by ada")
            }
        }
    }

    @Suite struct WhenTheDaemonIsStarted {
        private let outer = LifecycleTests()

        @Test(.proves(.jobs, "A daemon that is stopped or killed is followed by one that goes on"))
        func testThatAJobThatStillRunsIsTakenUpAndNoStepRunsTwice() async throws {
            try await withBot(local) { bot in
                // given
                let id = try await bot.begin(outer.waiting(bot))
                _ = try await bot.attempt(of: id, at: .testing)
                try await bot.stop()
                #expect(!bot.jobProcesses.isEmpty, "the job goes on without the daemon")

                // when
                try await bot.start()
                try bot.directory.write("go", "")

                // then
                let integration = try await bot.completion(of: id)
                try expectOneRun(of: integration, in: bot)
            }
        }

        @Test(.proves(.jobs, "A daemon that is stopped or killed is followed by one that goes on"))
        func testThatTheResultOfAJobThatEndedMeanwhileIsTakenUp() async throws {
            try await withBot(local) { bot in
                // given
                let id = try await bot.begin(outer.waiting(bot))
                let attempt = try await bot.attempt(of: id, at: .testing)
                try await bot.stop()
                try bot.directory.write("go", "")
                await until("the job's end") {
                    (try? bot.directory(of: attempt).status().last?.isFinished) ?? false
                }

                // when
                try await bot.start()

                // then
                try expectOneRun(of: try await bot.completion(of: id), in: bot)
            }
        }

        @Test func testThatWhatWasPushedMeanwhileIsFound() async throws {
            try await withBot(configurations: ["debug"]) { bot in
                // given
                try await bot.integrate()
                try await bot.stop()
                let commit = try await bot.push(Commit(files: ["new": ""]))

                // when
                try await bot.start()

                // then
                let record = try await bot.integration(of: commit, on: RefName(branch: "main"))
                #expect(record.id.number == 2)
                expectResult(of: try await bot.completion(of: record.id), "succeeded")
            }
        }

        @Test func testThatAQueuedIntegrationIsNotForgotten() async throws {
            try await withBot(local) { bot in
                // given
                let first = try await bot.begin(outer.waiting(bot))
                _ = try await bot.attempt(of: first, at: .testing)
                let second = try await bot.begin(Commit(files: ["second": ""]))
                try await bot.stop()

                // when
                try await bot.start()
                try bot.directory.write("go", "")

                // then
                expectResult(of: try await bot.completion(of: first), "succeeded")
                expectResult(of: try await bot.completion(of: second), "succeeded")
            }
        }

        private func expectOneRun(of integration: Integrated, in bot: Bot) throws {
            expectResult(of: integration, "succeeded")
            #expect(integration.attempts.count == 1)
            expectFile(bot.directory.path("runs"), "run\n")
            let attempt = try #require(integration.attempt("debug"))
            #expect(try bot.starts(of: .building, in: attempt) == 1)
            #expect(try bot.starts(of: .testing, in: attempt) == 1)
            expectSteps(of: integration, [.building: .succeeded, .testing: .succeeded])
        }
    }

    @Suite struct WhenTheSupervisorIsKilled {
        private let outer = LifecycleTests()

        @Test(
            .proves(
                .jobs,
                "Attempts: a lost one is internal-error, the workspace is made anew, one more is made by itself, also after an upgrade"
            ))
        func testThatOneNewAttemptIsMadeInAWorkspaceMadeAnew() async throws {
            try await withBot(local) { bot in
                // given: the first run leaves an ignored file and waits; the second prints whether the file exists
                let id = try await bot.begin(
                    .running(
                        .testing, of: "debug",
                        script: """
                            if [ -f \(bot.directory.path("second")) ]; then
                                if [ -f build/left ]; then echo "it is still there"; else echo "all is new"; fi
                            else
                                touch build/left; echo waiting; sleep 600
                            fi
                            """))
                let first = try await bot.attempt(of: id, at: .testing)
                await until("it runs") { (try? bot.log(of: first).contains("waiting")) ?? false }
                let lock = try WholeFile.read(bot.directory(of: first).paths.lock, limit: 256)
                let supervisor = try #require(LockContent(String(decoding: lock, as: UTF8.self)))

                // when
                try bot.directory.write("second", "")
                kill(supervisor.pid, SIGKILL)

                // then
                let integration = try await bot.completion(of: id)
                expectResult(of: integration, "succeeded")
                #expect(integration.attempts.map(\.state.verdict) == [.internalError, .succeeded])
                expectContains(integration.attempts.first?.reason ?? "", "the supervisor exited without a result")
                let second = try #require(integration.attempt("debug"))
                expectContains(try bot.log(of: second), "all is new")
            }
        }
    }
}

/// A plan with the real executor.
private let local = BotPlan(executor: .local)
