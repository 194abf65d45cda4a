import Basics
import BotSupport
import Execution
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations

/// Scripts that are stopped, and a daemon that is stopped between scripts and during one.
@Suite struct TriggerLifecycleTests {
    private static let plan = BotPlan(
        file: """
            supersede: running
            triggers:
              - { name: first, run: note }
              - { name: second, run: wait }
              - { name: third, run: note }

            """, executor: .local)

    /// Runs a test with a bot whose scripts record their runs, while the second of three runs.
    private func withWaitingScript(_ body: (Bot, IntegrationID) async throws -> Void) async throws {
        try await withBot(Self.plan, isStarted: false) { bot in
            for (name, script) in [
                "note": "#!/bin/sh\necho ran >>{directory}/notes\n",
                "wait": """
                #!/bin/sh
                echo waited >>{directory}/notes
                while [ ! -f {directory}/go ]; do sleep 0.02; done

                """,
            ] {
                try bot.directory.write(
                    "triggers/\(name)", script.replacing("{directory}", with: bot.directory.path), mode: 0o755)
            }
            try await bot.start()
            let id = try await bot.begin()
            try await bot.wait("the second trigger") { store in
                try await store.triggers(of: id).contains { $0.trigger.description == "second" } ? true : nil
            }
            await until("its script runs") { (try? bot.directory.text("notes")) == "ran\nwaited\n" }
            try await body(bot, id)
        }
    }

    /// A trigger that runs only on failures does not use the products, which are then not made.
    @Test(
        .proves(
            .steps,
            "Products are archived only if a later trigger or the recipe uses them; page, API, `martlet artifacts`, `--plan` and logs say why they are not"
        ), arguments: [true, false])
    func testThatAScriptsLogSaysWhyThereAreNoArtifacts(isArchived: Bool) async throws {
        // given
        let recipe = """
            configurations:
              debug: { build: sh play building, test: sh play testing, report: build/junit.xml }
            analyze: []
            \(isArchived ? #"archive: { include: ["products/**"] }"# : "")

            """
        let script = "#!/bin/sh\necho \"${0##*/} $#\"\n"
        let plan = BotPlan(
            recipe: recipe, file: "triggers: [{ name: tell, when: failed, run: tell }]\n", scripts: ["tell": script],
            executor: .local)
        try await withBot(plan) { bot in
            // when
            let integration = try await bot.integrate(.failing("debug"))
            // then
            let record = try #require(integration.trigger("tell"))
            #expect(record.state == .succeeded, "\(record.reason ?? "")")
            let reason = """
                martlet: MARTLET_ARTIFACTS is empty: not archived: nothing uses the products; `archive: {}` in the recipe keeps them, \
                and so does a trigger that acts on main

                """
            #expect(try bot.log(of: record) == (isArchived ? "" : reason) + "tell 0\n")
        }
    }

    @Test func testThatNoTriggerRunsTwiceOverARestart() async throws {
        try await withWaitingScript { bot, id in
            // when
            try await bot.restart()
            try bot.directory.write("go", "")

            // then
            let integration = try await bot.completion(of: id)
            expectResult(of: integration, "succeeded")
            expectTriggers(of: integration, ["first": .succeeded, "second": .succeeded, "third": .succeeded])
            #expect(integration.triggers.map(\.attempt) == [1, 1, 1])
            expectFile(bot.directory.path("notes"), "ran\nwaited\nran\n")
        }
    }

    @Test func testThatACancelEndsTheScriptAndSkipsTheLaterOnes() async throws {
        try await withWaitingScript { bot, id in
            // when
            try await bot.operations.cancel(id, by: "ada")

            // then
            let integration = try await bot.completion(of: id)
            expectVerdict(of: integration, .canceled, because: "canceled by ada")
            expectTriggers(of: integration, ["first": .succeeded, "second": .failed, "third": .skipped])
            #expect(integration.trigger("third")?.reason == "canceled by ada")
            expectFile(bot.directory.path("notes"), "ran\nwaited\n")
            await until("nothing of it runs") { bot.jobProcesses.isEmpty }
        }
    }

    /// Half of an upload is useless.
    @Test(.proves(.intake, "`supersede: queued, running, never`, with outcomes and reasons"))
    func testThatANewerCommitThatAnotherDaemonFindsEndsNoTrigger() async throws {
        try await withWaitingScript { bot, id in
            // given
            try await bot.stop()
            let commit = try await bot.push(Commit(files: ["n": "2"]))

            // when
            try await bot.start()
            let second = try await bot.integration(of: commit, on: RefName(branch: "main")).id
            try bot.directory.write("go", "")

            // then
            let integration = try await bot.completion(of: id)
            expectResult(of: integration, "succeeded")
            #expect(integration.record.supersededBy == nil)
            expectTriggers(of: integration, ["first": .succeeded, "second": .succeeded, "third": .succeeded])
            expectResult(of: try await bot.completion(of: second), "succeeded")
        }
    }

    /// The daemon was killed between the cancellation request and its execution.
    @Test(
        .proves(
            .intake,
            "`cancel` with grace, in every state: queued, preparing, before-triggers, running, after-triggers, uploading"
        ))
    func testThatACancellationRequestThatADaemonLeftEndsTheScriptThatStillRuns() async throws {
        try await withWaitingScript { bot, id in
            // given
            try await bot.stop()
            try await CancellationRequests(state: bot.state).store(.init(reason: "ada wants it"), for: id, run: 1)

            // when
            try await bot.start()

            // then
            let integration = try await bot.completion(of: id)
            expectVerdict(of: integration, .canceled, because: "ada wants it")
            expectTriggers(of: integration, ["first": .succeeded, "second": .failed, "third": .skipped])
            #expect(integration.trigger("second")?.reason == "ada wants it")
            expectFile(bot.directory.path("notes"), "ran\nwaited\n")
            await until("nothing of it runs") { bot.jobProcesses.isEmpty }
        }
    }

    @Test func testThatACancelOutlivesTheDaemonThere() async throws {
        try await withWaitingScript { bot, id in
            // when
            try await bot.operations.cancel(id, by: "ada")
            try await bot.restart()

            // then
            let integration = try await bot.completion(of: id)
            expectVerdict(of: integration, .canceled, because: "canceled by ada")
            expectFile(bot.directory.path("notes"), "ran\nwaited\n")
        }
    }
}
