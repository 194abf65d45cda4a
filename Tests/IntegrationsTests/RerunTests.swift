import BotSupport
import Execution
import ExecutionSupport
import Integrations
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

/// A rerun adds attempts to the integration that it repeats.
@Suite struct RerunTests {
    /// A player of commits that lets the testing of some configurations fail while they are broken here.
    private final class Flaky: Sendable {
        let broken: Locked<Set<String>>

        init(_ broken: Set<String>) { self.broken = Locked(broken) }

        func mend() { broken.withLock { $0 = [] } }

        var executor: ScriptedExecutor {
            let broken = broken
            return ScriptedExecutor { job in
                let configuration = job.environment["MARTLET_CONFIGURATION"] ?? ""
                let isBroken = broken.withLock { $0.contains(configuration) }
                let artifacts: [String: [UInt8]] = job.collect.isEmpty ? [:] : ["products/tool": [0x78]]
                return ScriptedExecutor.Plan(artifacts: artifacts) { _, step in
                    guard step.step == "testing" else { return ScriptedExecutor.Play() }
                    return ScriptedExecutor.Play(
                        exit: isBroken ? 1 : 0,
                        reports: ["build/junit.xml": isBroken ? Commit.Reports.failing : Commit.Reports.passing])
                }
            }
        }
    }

    @Suite struct GivenAFailedConfiguration {
        private func withFailedRelease(
            file: String = "", _ body: (Bot, Flaky, Integrated) async throws -> Void
        ) async throws {
            let flaky = Flaky(["release"])
            let executor = flaky.executor
            try await withBot(
                BotPlan(configurations: ["debug", "release"], file: file, executor: .scripted(executor))
            ) { bot in
                let first = try await bot.integrate(on: file.isEmpty ? "main" : "release/1.0")
                expectVerdict(of: first, .testFailures)
                flaky.mend()
                try await body(bot, flaky, first)
            }
        }

        @Test(
            .proves(
                .testHistory,
                "A pass on retry is *flaky*, never silently green: by a tool's retries, a rerun of all or of some tests, an attempt made again"
            ), .proves(.programs, "`rerun --failed`, `--tests FILTER`, `--triggers`"))
        func testThatFailedRunsOnlyItAndTheNewestAttemptCounts() async throws {
            try await withFailedRelease { bot, _, first in
                // when
                let accepted = try await bot.operations.rerun(first.id, Rerun(isFailedOnly: true), by: "ada")
                let again = try await bot.completion(of: first.id)

                // then
                #expect(accepted.jobs.map(\.description) == ["release"])
                #expect(accepted.integration.state == .queued)
                #expect(again.record.run == 2)
                expectVerdict(of: again, .warnings, because: "1 test is flaky: KitTests/subtracts")
                #expect(again.attempts.filter { $0.id.job.description == "debug" }.count == 1)
                let release = again.attempts.filter { $0.id.job.description == "release" }
                #expect(release.map(\.id.attempt) == [1, 2])
                #expect(release.map(\.run) == [1, 2])
                #expect(release.map(\.state.verdict) == [.testFailures, .warnings], "both stand side by side")
                expectIssues(
                    of: again,
                    [
                        "new warning KitTests/subtracts is flaky: it passed in attempt 2 of the same commit: failed in attempt 1: 2 is not 3"
                    ])
                #expect(again.summary.counts.testFailures == 0)
                #expect(again.summary.counts.flakyTests == 1)
                #expect(again.summary.counts.tests == 4)
                #expect(try await bot.store.integrations().items.count == 1, "no integration of its own")
            }
        }

        @Test(.proves(.programs, "`rerun`: further attempts of one integration, the newest counts"))
        func testThatTheRestRunsEveryConfigurationAgain() async throws {
            try await withFailedRelease { bot, _, first in
                // when
                _ = try await bot.operations.rerun(first.id, Rerun(), by: "ada")
                let again = try await bot.completion(of: first.id)

                // then
                expectVerdict(of: again, .warnings)
                #expect(again.attempts.map(\.id.attempt).sorted() == [1, 1, 2, 2])
                let rerun = try await bot.store.reruns(of: first.id)
                #expect(rerun.map(\.run) == [2])
                #expect(rerun.map(\.requestedBy) == ["ada"])
                let events = try await bot.store.deliveries().items.filter { $0.event == "rerun" }
                #expect(events.map(\.reason) == ["kit#1, asked for by ada"])
            }
        }

        @Test(.proves(.programs, "`rerun`: further attempts of one integration, the newest counts"))
        func testThatTheRecordedRecipeIsReplayed() async throws {
            try await withFailedRelease { bot, _, first in
                // given: the bot file has a different recipe by now
                try bot.writeFile("recipe: { configurations: { other: { build: 'true' } } }\n")
                bot.timer.advance(by: .seconds(1))
                await until("the file is read") {
                    await (try? bot.operations.overview().bots.first?.recipe) != nil
                }

                // when
                _ = try await bot.operations.rerun(first.id, Rerun(), by: "ada")
                let again = try await bot.completion(of: first.id)

                // then
                #expect(Set(again.attempts.map(\.id.job.description)) == ["debug", "release"])
                expectVerdict(of: again, .warnings)
            }
        }

        @Test(.proves(.programs, "`rerun`: further attempts of one integration, the newest counts"))
        func testThatAVersionIsPublishedByTheRerunAndNeverTwice() async throws {
            try await withFailedRelease(file: BotPlan.publishing) { bot, _, first in
                // given
                expectTriggers(of: first, ["publish": .skipped])

                // when
                _ = try await bot.operations.rerun(first.id, Rerun(isFailedOnly: true), by: "ada")
                let second = try await bot.completion(of: first.id)
                let bytes = try bot.publishedFile("SHA256SUMS", of: "1.0.0")
                _ = try await bot.operations.rerun(first.id, Rerun(), by: "ada")
                let third = try await bot.completion(of: first.id)

                // then
                #expect(second.trigger("publish")?.reason == "published 1.0.0")
                #expect(third.trigger("publish")?.reason == "already 1.0.0")
                #expect(third.triggers.map(\.attempt) == [1, 2, 3])
                #expect(third.triggers.map(\.run) == [1, 2, 3])
                try await expectPublished(by: bot, ["1.0.0"])
                #expect(try bot.publishedFile("SHA256SUMS", of: "1.0.0") == bytes)
            }
        }

        @Test func testThatItIsComparedWithTheIntegrationBeforeIt() async throws {
            let flaky = Flaky([])
            let executor = flaky.executor
            try await withBot(BotPlan(configurations: ["debug"], executor: .scripted(executor))) { bot in
                // given
                try await bot.integrate()
                flaky.broken.withLock { $0 = ["debug"] }
                let second = try await bot.integrate(Commit(files: ["n": "2"]))

                // when
                _ = try await bot.operations.rerun(second.id, Rerun(), by: "ada")
                let again = try await bot.completion(of: second.id)

                // then
                #expect(again.summary.change.testFailures == 1)
                #expect(again.issues.map(\.status) == [.new])
                #expect(again.id.number == 2)
            }
        }
    }

    @Suite struct GivenAFailedTrigger {
        @Test(.proves(.programs, "`rerun --failed`, `--tests FILTER`, `--triggers`"))
        func testThatTriggersRunAgainWithoutAnyJob() async throws {
            let executor = Flaky([]).executor
            let file = BotPlan.uploading + "  - { name: ready, phase: before, run: ready }\n"
            let plan = BotPlan(file: file, scripts: ["ready": "#!/bin/sh\n"], executor: .scripted(executor))
            try await withBot(plan) { bot in
                // given
                bot.transport.serve("https://files.example/")
                bot.transport.fail(request: 1, with: .status(403))
                let first = try await bot.integrate(on: "release/1.0")
                expectResult(of: first, "trigger-error")
                #expect(first.issues.map(\.finding.category) == [.triggerError])

                // when
                let accepted = try await bot.operations.rerun(first.id, Rerun(isTriggersOnly: true), by: "ada")
                let again = try await bot.completion(of: first.id)

                // then
                #expect(accepted.jobs.isEmpty)
                expectResult(of: again, "succeeded")
                #expect(executor.starts.count == 2, "the trigger before the jobs, and one job")
                #expect(again.attempts.count == 1)
                expectTriggers(of: again, ["ready": .succeeded, "publish": .succeeded, "office": .succeeded])
                #expect(again.triggers.map(\.state) == [.succeeded, .succeeded, .failed, .succeeded, .succeeded])
                expectIssues(of: again, [])
                try await expectPublished(by: bot, ["1.0.0"])
                #expect(bot.transport.urls.count == (try bot.publishedFiles("1.0.0").count))
                _ = bot.transport.takeRequests()
            }
        }

        @Test(.proves(.programs, "`rerun --failed`, `--tests FILTER`, `--triggers`"))
        func testThatWhoWantsWhatFailedIsToldOfTheTriggers() async throws {
            let plan = BotPlan(file: BotPlan.uploading, executor: .scripted(Flaky([]).executor))
            try await withBot(plan) { bot in
                // given
                bot.transport.serve("https://files.example/")
                bot.transport.fail(request: 1, with: .status(403))
                let first = try await bot.integrate(on: "release/1.0")
                expectResult(of: first, "trigger-error")

                // when
                let error = await expectRejection(OperationError.self, \.code, .conflict) {
                    try await bot.operations.rerun(first.id, Rerun(isFailedOnly: true), by: "ada")
                }

                // then
                #expect(
                    error?.message
                        == "no configuration of \(first.id) failed, only a trigger did; rerun it with `triggers`")
                _ = bot.transport.takeRequests()
            }
        }

        @Test func testThatAMendedBotFileIsWhatTheyRunBy() async throws {
            let executor = Flaky([]).executor
            try await withBot(
                BotPlan(
                    file: BotPlan.uploading.replacing("files.example", with: "wrong.example"),
                    executor: .scripted(executor))
            ) { bot in
                // given
                bot.transport.serve("https://files.example/")
                bot.transport.serve("https://wrong.example/")
                bot.transport.fail(request: 1, with: .status(403))
                let first = try await bot.integrate(on: "release/1.0")
                expectResult(of: first, "trigger-error")
                try bot.writeFile(BotPlan.uploading)
                bot.timer.advance(by: .seconds(1))
                await until("the file is read") {
                    guard case .upload(let url, _) = try? await bot.operations.overview().bots.first?.triggers[1].action
                    else { return false }
                    return url.contains("files.example")
                }

                // when
                _ = try await bot.operations.rerun(first.id, Rerun(isTriggersOnly: true), by: "ada")

                // then
                expectResult(of: try await bot.completion(of: first.id), "succeeded")
                let urls = bot.transport.urls
                #expect(!urls.isEmpty && urls.allSatisfy { $0.hasPrefix("https://files.example/") }, "\(urls)")
                _ = bot.transport.takeRequests()
            }
        }
    }

    @Suite struct WhenItIsRefused {
        private func refused(
            _ rerun: Rerun, of id: IntegrationID, _ bot: Bot, _ code: OperationError.Code, _ text: String,
            sourceLocation: SourceLocation = #_sourceLocation
        ) async {
            let error = await expectRejection(
                OperationError.self, \.code, code, sourceLocation: sourceLocation
            ) { try await bot.operations.rerun(id, rerun, by: "ada") }
            expectContains(error?.message ?? "", text, sourceLocation: sourceLocation)
        }

        @Test(.proves(.programs, "`rerun --failed`, `--tests FILTER`, `--triggers`"))
        func testThatEachRefusalSaysWhy() async throws {
            try await withBot(BotPlan(executor: .scripted(Flaky([]).executor))) { bot in
                // given
                let done = try await bot.integrate()
                let unknown = IntegrationID(bot: bot.name, number: 9)

                // then
                await refused(Rerun(), of: unknown, bot, .notFound, "there is no integration kit#9")
                await refused(
                    Rerun(isFailedOnly: true), of: done.id, bot, .conflict, "no configuration of kit#1 failed")
                await refused(
                    Rerun(testFilter: "Kit"), of: done.id, bot, .conflict,
                    "its recipe tests with a command of its own (sh play testing), and has no `test-only` that runs")
                await refused(Rerun(isTriggersOnly: true), of: done.id, bot, .conflict, "kit has no trigger after main")
                await refused(Rerun(isFailedOnly: true, isTriggersOnly: true), of: done.id, bot, .invalid, "leave out")
                for filter in ["", "a\nb", String(repeating: "x", count: 1001)] {
                    await refused(Rerun(testFilter: filter), of: done.id, bot, .invalid, "1 to 1000 bytes")
                }
                #expect(try await bot.store.integration(done.id) == done.record)
            }
        }

        @Test func testThatOneThatRunsIsNotRunAgain() async throws {
            let executor = ScriptedExecutor()
            try await withBot(BotPlan(executor: .scripted(executor))) { bot in
                // given
                let id = try await bot.begin()
                await until("the job begins") { !executor.starts.isEmpty }

                // when, then
                await refused(Rerun(), of: id, bot, .conflict, "is not completed yet")
                try await bot.operations.cancel(id, by: "ada")
                _ = try await bot.completion(of: id)
            }
        }
    }

    @Suite struct WhenItIsCanceled {
        @Test(.proves(.programs, "`rerun`: further attempts of one integration, the newest counts"))
        func testThatOneThatHasNotBegunIsTakenBack() async throws {
            let held = ScriptedExecutor()
            let isHeld = Locked(false)
            let playing = Flaky([]).executor
            try await withBot(BotPlan(executor: .other(Switch(isHeld, held, playing)))) { bot in
                // given: the ref is busy with a later commit
                let first = try await bot.integrate()
                isHeld.withLock { $0 = true }
                let second = try await bot.begin(Commit(files: ["n": "2"]))
                await until("the job begins") { !held.starts.isEmpty }
                _ = try await bot.operations.rerun(first.id, Rerun(), by: "ada")

                // when
                try await bot.operations.cancel(first.id, by: "bob")

                // then
                let now = try await bot.completion(of: first.id)
                #expect(now.record == first.record)
                #expect(now.attempts == first.attempts)
                #expect(try await bot.store.reruns(of: first.id) == [])
                try await bot.operations.cancel(second, by: "bob")
                _ = try await bot.completion(of: second)
            }
        }

        @Test func testThatACanceledIntegrationCanBeRunAgain() async throws {
            let held = ScriptedExecutor()
            let isHeld = Locked(true)
            try await withBot(BotPlan(executor: .other(Switch(isHeld, held, Flaky([]).executor)))) { bot in
                // given
                let id = try await bot.begin()
                await until("the job begins") { !held.starts.isEmpty }
                try await bot.operations.cancel(id, by: "bob")
                expectVerdict(of: try await bot.completion(of: id), .canceled, because: "canceled by bob")

                // when: the cancellation request of the run before is not for this one
                isHeld.withLock { $0 = false }
                _ = try await bot.operations.rerun(id, Rerun(isFailedOnly: true), by: "ada")

                // then
                let again = try await bot.completion(of: id)
                expectVerdict(of: again, .succeeded)
                #expect(again.attempts.map(\.state.verdict) == [.canceled, .succeeded])
                #expect(again.record.reason == nil)
            }
        }

        /// An executor that starts attempts with one of two executors.
        private final class Switch: Executor {
            private let isHeld: Locked<Bool>
            private let held: ScriptedExecutor
            private let playing: ScriptedExecutor

            init(_ isHeld: Locked<Bool>, _ held: ScriptedExecutor, _ playing: ScriptedExecutor) {
                (self.isHeld, self.held, self.playing) = (isHeld, held, playing)
            }

            private func owner(of attempt: AttemptDirectory) -> ScriptedExecutor {
                held.starts.contains(attempt.path) ? held : playing
            }

            func start(_ attempt: AttemptDirectory, secrets: [String: String]) async throws(ExecutionError) {
                try await (isHeld.value ? held : playing).start(attempt, secrets: secrets)
            }

            func liveness(of attempt: AttemptDirectory) async throws(ExecutionError) -> Liveness {
                try await owner(of: attempt).liveness(of: attempt)
            }

            func cancel(_ attempt: AttemptDirectory, reason: String, grace: Duration) async throws(ExecutionError) {
                try await owner(of: attempt).cancel(attempt, reason: reason, grace: grace)
            }
        }
    }

    @Test(
        .proves(.jobs, "A job that came to nothing by the machine's fault is told in the service's log"),
        .proves(.programs, "`rerun`: further attempts of one integration, the newest counts"))
    func testThatALostAttemptOfARerunGetsOneMoreByItself() async throws {
        let scripted = ScriptedExecutor()
        let executor = scripted
        try await withBot(BotPlan(executor: .scripted(executor))) { bot in
            // given: the first run was lost twice
            let id = try await bot.begin()
            for number in 1...2 {
                await until("attempt \(number)") { executor.starts.count == number }
                executor.lose(AttemptDirectory(path: try #require(executor.starts.dropFirst(number - 1).first)))
            }
            expectVerdict(
                of: try await bot.completion(of: id), .internalError, because: "the supervisor exited without a result")
            #expect(bot.log.lines.contains { $0.description.contains("reason=the supervisor exited without a result") })

            // when
            _ = try await bot.operations.rerun(id, Rerun(isFailedOnly: true), by: "ada")
            for number in 3...4 {
                await until("attempt \(number)") { executor.starts.count == number }
                executor.lose(AttemptDirectory(path: try #require(executor.starts.dropFirst(number - 1).first)))
            }

            // then
            let again = try await bot.completion(of: id)
            expectVerdict(of: again, .internalError)
            #expect(again.attempts.map(\.run) == [1, 1, 2, 2])
        }
    }
}
