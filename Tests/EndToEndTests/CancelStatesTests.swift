import Basics
import BotSupport
import Execution
import ExecutionSupport
import Foundation
import Integrations
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

/// A user cancels in each state of an integration. A queued one, and one whose jobs run, are in `LifecycleTests`.
@Suite struct CancelStatesTests {
    private static let script = """
        #!/bin/sh
        trap 'echo asked to end; exit 7' TERM
        echo waiting
        while :; do sleep 0.02; done

        """
    private static let stubborn = """
        #!/bin/sh
        trap 'echo asked to end' TERM
        echo waiting
        while :; do sleep 0.02; done

        """

    private func log(of trigger: String, _ id: IntegrationID, _ bot: Bot) -> String {
        let path = "\(bot.state.path)/\(StateDirectory.trigger(Name(nearest: trigger), of: id))/1/log"
        // It does not exist before the script begins.
        return (try? WholeFile.read(path, limit: 1 << 16)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    @Test(
        .proves(
            .intake,
            "`cancel` with grace, in every state: queued, preparing, before-triggers, running, after-triggers, uploading"
        ))
    func testThatABeforeTriggerEndsInOrderAndNoJobStarts() async throws {
        let plan = BotPlan(
            file: "triggers: [{ name: guard, phase: before, run: guard }]\n", scripts: ["guard": Self.script],
            executor: .local)
        try await withBot(plan) { bot in
            // given
            let id = try await bot.begin()
            await until("the script waits") { log(of: "guard", id, bot).contains("waiting") }

            // when
            try await bot.operations.cancel(id, by: "ada")

            // then
            let integration = try await bot.completion(of: id)
            expectVerdict(of: integration, .canceled, because: "canceled by ada")
            expectResult(of: integration, "canceled")
            #expect(integration.attempts.isEmpty)
            #expect(integration.trigger("guard")?.reason == "canceled by ada")
            expectContains(log(of: "guard", id, bot), "asked to end")
            await until("nothing of it runs") { bot.jobProcesses.isEmpty }
        }
    }

    @Test(
        .proves(
            .intake,
            "`cancel` with grace, in every state: queued, preparing, before-triggers, running, after-triggers, uploading"
        ))
    func testThatAStubbornAfterTriggerIsKilledAfterTheGrace() async throws {
        let plan = BotPlan(
            file: "triggers: [{ name: tell, run: tell }, { name: later, run: tell }]\n",
            scripts: ["tell": Self.stubborn], executor: .local)
        try await withBot(plan) { bot in
            // given
            let id = try await bot.begin()
            await until("the script waits", limit: Bot.waitLimit) { log(of: "tell", id, bot).contains("waiting") }

            // when
            try await bot.operations.cancel(id, grace: .milliseconds(200), by: "ada")

            // then
            let integration = try await bot.completion(of: id)
            expectVerdict(of: integration, .canceled, because: "canceled by ada")
            expectTriggers(of: integration, ["tell": .failed, "later": .skipped])
            #expect(integration.attempt("debug")?.state.verdict == .succeeded)
            expectContains(log(of: "tell", id, bot), "asked to end")
            await until("nothing of it runs") { bot.jobProcesses.isEmpty }
        }
    }

    @Test(
        .proves(
            .intake,
            "`cancel` with grace, in every state: queued, preparing, before-triggers, running, after-triggers, uploading"
        ))
    func testThatAnUploadIsInterruptedAndWhatWasPublishedStays() async throws {
        try await withBot(configurations: ["debug"], file: BotPlan.uploading) { bot in
            // given
            let id = try await bot.beginUploadWithoutAnswer()

            // when
            try await bot.operations.cancel(id, by: "ada")

            // then
            let integration = try await bot.completion(of: id)
            expectVerdict(of: integration, .canceled, because: "canceled by ada")
            expectTriggers(of: integration, ["publish": .succeeded, "office": .failed])
            #expect(integration.trigger("office")?.reason == "canceled by ada")
            try await expectPublished(by: bot, ["1.0.0"])
            _ = bot.transport.takeRequests()
        }
    }

    @Test func testThatAJobThatWaitsForItsSlotEndsAtOnce() async throws {
        let plan = BotPlan(file: "branches: [main, topic]\n", concurrency: 1)
        try await withRunningJob(plan) { bot, executor, first in
            // given
            let second = try await bot.begin(Commit(files: ["n": "2"]), on: "topic")
            _ = try await bot.attempt(of: second)

            // when
            try await bot.operations.cancel(second, by: "ada")

            // then
            let integration = try await bot.completion(of: second)
            expectVerdict(of: integration, .canceled, because: "canceled by ada")
            #expect(executor.starts.count == 1)
            try await bot.operations.cancel(first, by: "ada")
            expectVerdict(of: try await bot.completion(of: first), .canceled)
        }
    }

    /// The mirror does not have the commit, and the repository's server accepts the connection and never sends a byte.
    @Test(
        .proves(
            .intake,
            "`cancel` with grace, in every state: queued, preparing, before-triggers, running, after-triggers, uploading"
        ))
    func testThatAFetchIsInterrupted() async throws {
        try await withBot(configurations: ["debug"]) { bot in
            // given
            let silent = try LoopbackSocket()
            defer { silent.stop() }
            try await bot.integrate()
            let url = "http://127.0.0.1:\(silent.port)/kit.git"
            try bot.writeFile("insecure: true\n", repository: url)
            bot.timer.advance(by: .seconds(1))
            await until("the file is read") {
                await (try? bot.operations.overview().bots.first?.repository) == url
            }
            let commit = try #require(CommitID(String(repeating: "e", count: 40)))
            let new = NewIntegration(bot: bot.name, ref: RefName(branch: "main"), commit: commit, cause: .person)
            let id = try await bot.store.queue(new, at: bot.time.now).id
            try await bot.wait("preparing") { store in
                try await store.integration(id)?.state == .running(.preparing) ? true : nil
            }

            // when
            try await bot.operations.cancel(id, by: "ada")

            // then
            expectVerdict(of: try await bot.completion(of: id), .canceled, because: "canceled by ada")
            try bot.writeFile("")
            bot.timer.advance(by: .seconds(1))
        }
    }

    @Suite struct WhenANewerCommitSupersedesIt {
        @Test(.proves(.intake, "`supersede: queued, running, never`, with outcomes and reasons"))
        func testThatOneWhoseJobRunsIsCanceledAndTheNewerOneRuns() async throws {
            let executor = ScriptedExecutor.playing { $0.environment["MARTLET_INTEGRATION_NUMBER"] == "1" }
            try await withBot(BotPlan(file: "supersede: running\n", executor: .scripted(executor))) { bot in
                // given
                let first = try await bot.begin()
                await until("the job begins") { !executor.starts.isEmpty }

                // when
                let second = try await bot.begin(Commit(files: ["n": "2"]))

                // then
                let reason = "superseded by kit#2, a newer commit of main"
                expectVerdict(of: try await bot.completion(of: first), .canceled, because: reason)
                expectVerdict(of: try await bot.completion(of: second), .succeeded)
                #expect(try await bot.store.refUpdates().items.map(\.outcome).contains(.superseded))
            }
        }

        @Test func testThatTheRequestOutlivesTheDaemon() async throws {
            let executor = ScriptedExecutor()
            try await withBot(BotPlan(file: "supersede: running\n", executor: .scripted(executor))) { bot in
                // given
                let first = try await bot.begin()
                await until("the job begins") { !executor.starts.isEmpty }
                try await bot.stop()
                let commit = try await bot.push(Commit(files: ["n": "2"]))

                // when: the daemon that continues the first makes the scan that finds it
                try await bot.start()

                // then
                expectVerdict(of: try await bot.completion(of: first), .canceled, because: "superseded by kit#2")
                let second = try await bot.integration(of: commit, on: RefName(branch: "main")).id
                await until("the second begins") { executor.starts.count == 2 }
                try await bot.operations.cancel(second, by: "ada")
                _ = try await bot.completion(of: second)
            }
        }

        @Test func testThatByDefaultOnlyWhatWaitsIsAndNothingOfAReleaseBranch() async throws {
            let executor = ScriptedExecutor()
            try await withBot(BotPlan(file: BotPlan.publishing, executor: .scripted(executor))) { bot in
                for (branch, isSuperseded) in [("main", true), ("release/1.0", false)] {
                    // given: one runs, one waits
                    let running = try await bot.begin(Commit(files: ["a": branch]), on: branch)
                    _ = try await bot.attempt(of: running)
                    let waiting = try await bot.begin(Commit(files: ["b": branch]), on: branch)

                    // when
                    let newest = try await bot.begin(Commit(files: ["c": branch]), on: branch)

                    // then
                    let state = try await bot.store.integration(waiting)?.state
                    #expect((state == .completed(.canceled, triggerFailed: false)) == isSuperseded, "\(branch)")
                    #expect(try await bot.store.integration(running)?.state.verdict == nil)
                    for id in isSuperseded ? [newest, running] : [newest, waiting, running] {
                        try await bot.operations.cancel(id, by: "ada")
                        _ = try await bot.completion(of: id)
                    }
                }
            }
        }
    }
}
