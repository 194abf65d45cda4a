import Basics
import BotSupport
import Execution
import ExecutionSupport
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations

/// The directories beside those of the configurations' jobs. The repository's recipe names the configurations.
@Suite struct IntegrationDirectoryTests {
    /// A configuration with the job directory of the operator's script would have its end taken for the script's.
    @Test(
        .proves(
            .intake,
            "A recipe's names take neither the place of a trigger's job nor of a cancellation request, also where an earlier version left them"
        ))
    func testThatNoConfigurationTakesAScriptsPlace() async throws {
        let plan = BotPlan(
            configurations: ["trigger-tell"], file: "triggers: [{ name: tell, run: tell }]\n", executor: .local)
        try await withBot(plan, isStarted: false) { bot in
            // given
            let notes = bot.directory.path("notes")
            try bot.directory.write("triggers/tell", "#!/bin/sh\necho told >>\(notes)\n", mode: 0o755)
            try await bot.start()

            // when
            let integration = try await bot.integrate()

            // then
            expectResult(of: integration, "succeeded")
            #expect(integration.attempts.map(\.id.job.description) == ["trigger-tell"])
            expectTriggers(of: integration, ["tell": .succeeded])
            expectFile(notes, "told\n")
        }
    }

    @Test(
        .proves(
            .intake,
            "A recipe's names take neither the place of a trigger's job nor of a cancellation request, also where an earlier version left them"
        ))
    func testThatAnIntegrationWithAConfigurationNamedCancelIsCanceled() async throws {
        try await withRunningJob(BotPlan(configurations: ["cancel"])) { bot, _, id in
            // when
            try await bot.operations.cancel(id, by: "ada")

            // then
            expectVerdict(of: try await bot.completion(of: id), .canceled, because: "canceled by ada")
        }
    }

    @Test(
        .proves(
            .intake,
            "A recipe's names take neither the place of a trigger's job nor of a cancellation request, also where an earlier version left them"
        ))
    func testThatWhatLiesThereBesideJobsHasNoNameOfOne() throws {
        let state = StateDirectory(path: "/state")
        let id = try Samples.integration().id
        for path in [
            "/state/" + StateDirectory.trigger(try Samples.name("tell"), of: id), state.cancellationRequest(id),
        ] {
            #expect(path.hasPrefix(state.integration(id) + "/"))
            let name = path.split(separator: "/").last.map(String.init) ?? ""
            #expect(Name(name) == nil, "\(name)")
        }
    }

    @Suite(
        .proves(
            .intake,
            "A recipe's names take neither the place of a trigger's job nor of a cancellation request, also where an earlier version left them"
        ))
    struct GivenAVersionBeforeThisOne {
        @Test func testThatItsCancellationRequestHolds() async throws {
            try await withRunningJob { bot, _, id in
                // given
                try await bot.stop()
                try Directory(opening: bot.state.integration(id)).write(
                    "cancel", bytes: Array(#"{"run":1,"reason":"ada wants it","grace":10000}"#.utf8))

                // when
                try await bot.start()

                // then
                expectVerdict(of: try await bot.completion(of: id), .canceled, because: "ada wants it")
            }
        }

        @Test func testThatItsScriptIsFollowedWhereItRuns() async throws {
            let executor = ScriptedExecutor.holding("tell")
            try await withBot(.telling(.scripted(executor))) { bot in
                // given
                let id = try await bot.begin()
                await until("the script") { executor.starts.count == 2 }
                try await bot.stop()
                let directory = try Directory(opening: bot.state.integration(id))
                try directory.rename("_trigger-tell", to: directory, "trigger-tell", replace: false)
                let script = AttemptDirectory(path: bot.state.integration(id) + "/trigger-tell/1")
                try await executor.start(script, secrets: [:])
                let store = try Store.open(path: bot.state.database)
                var record = try #require(try await store.triggers(of: id).first)
                record.log = "integrations/\(id.bot)/\(id.number)/trigger-tell/1"
                try await store.recordTrigger(record)
                try store.close()

                // when
                try await bot.start()
                try executor.complete(script)

                // then
                let integration = try await bot.completion(of: id)
                expectTriggers(of: integration, ["tell": .succeeded])
                #expect(integration.trigger("tell")?.log == record.log)
                #expect(executor.starts.count == 3)
            }
        }
    }
}
