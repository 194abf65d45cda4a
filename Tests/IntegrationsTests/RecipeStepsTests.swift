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
@testable import Jobs

/// Steps that a recipe states, and their permissions.
@Suite struct RecipeStepsTests {
    private static let recipe = """
        configurations:
          debug:
            timeout: 20m
            environment: { COLOUR: red, SHAPE: round }
            steps:
              - { name: generate, step: building, run: ./generate, working-directory: tools, network: full, timeout: 10m }
              - { name: compile, step: building, run: make }
              - { name: tidy, step: analyzing, run: ./tidy, report: tidy.sarif }
              - { name: unit, step: testing, run: make check, environment: { COLOUR: blue }, report: "*.xml" }
        analyze: [{ name: lint, run: ./lint, environment: { LEVEL: 2 } }, { run: ./other }]
        archive: { include: [] }

        """

    @Test(
        .proves(
            .steps,
            "Steps that a recipe writes out: name, kind, command, environment, time-out, working directory, network, report, secrets"
        ))
    func testThatTheyRunInTheirOrderAsTheyAreWritten() async throws {
        let executor = ScriptedExecutor.playing()
        try await withBot(BotPlan(recipe: Self.recipe, executor: .scripted(executor))) { bot in
            // when
            let integration = try await bot.integrate()

            // then
            let attempt = try #require(integration.attempt("debug"))
            expectNoDifference(
                attempt.steps.map { "\($0.step.rawValue) \($0.name)" },
                [
                    "analyzing lint", "analyzing analyze-2", "building generate", "building compile", "analyzing tidy",
                    "testing unit",
                ])
            let job = try bot.directory(of: attempt).job()
            func step(_ name: String) throws -> JobDescription.Step {
                try #require(job.steps.first { $0.name == name })
            }
            #expect(job.environment["COLOUR"] == "red")
            #expect(try step("lint").environment == ["LEVEL": "2"])
            #expect(try step("unit").environment == ["COLOUR": "blue"])
            #expect(try step("unit").arguments == ShellCommand.arguments(for: "make check"))
            #expect(try step("unit").report == ["*.xml"])
            #expect(try step("generate").workingDirectory == "tools")
            #expect(try step("compile").workingDirectory == ".")
            #expect(try step("generate").timeoutMilliseconds == 600_000)
            #expect(try step("compile").timeoutMilliseconds == 1_200_000)
            #expect(job.steps.map(\.network) == [.none, .none, .full, .none, .none, .none])
            #expect(job.steps.map(\.isRequired) == [false, false, true, true, false, true])
        }
    }

    /// With real processes: a step's report is read although the next step writes a file of the same name.
    @Test(.proves(.jobs, "Each step's reports are taken directly after it, all within one limit"))
    func testThatTestsOfStepsWithOneReportFileAllCount() async throws {
        let recipe = """
            configurations:
              debug:
                steps:
                  - { name: unit, step: testing, run: cp passing.xml out.xml, report: out.xml }
                  - { name: more, step: testing, run: cp more/more.xml out.xml, report: out.xml }
            analyze: []
            archive: { include: [] }

            """
        try await withBot(BotPlan(recipe: recipe, executor: .local)) { bot in
            // given
            let more = #"<testsuite name="More"><testcase classname="More" name="divides"/></testsuite>"#

            // when
            let integration = try await bot.integrate(Commit(files: ["more/more.xml": more]))

            // then
            expectVerdict(of: integration, .succeeded)
            #expect(integration.tests.map(\.result.name).sorted() == ["adds", "divides", "subtracts"])
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "A recipe's command ends at its first failure, also in a pipeline; `#!` names its interpreter; only comments are an error; `lint` says how lines run"
        ),
        arguments: [
            ("build", "false\necho ok", Verdict.buildErrors), ("build", "false | cat", .buildErrors),
            ("test", "there-is-no-such-program\necho the rest", .testFailures),
            ("test", "set +e\nfalse\necho ok", .succeeded),
        ])
    func testThatACommandOfWhichOneLineFailsIsRed(_ key: String, _ command: String, _ verdict: Verdict) async throws {
        let lines = command.split(separator: "\n").map { "      \($0)\n" }.joined()
        let other = key == "build" ? "test" : "build"
        let recipe = """
            configurations:
              debug:
                \(other): "true"
                \(key): |
            \(lines)
            analyze: []
            archive: { include: [] }

            """
        try await withBot(BotPlan(recipe: recipe, executor: .local)) { bot in
            // when
            let integration = try await bot.integrate()
            // then
            expectVerdict(of: integration, verdict)
        }
    }

    @Test func testThatTheNetworkOfAConfigurationIsEveryStepsThatSaysNothing() async throws {
        let recipe = """
            configurations:
              debug:
                network: full
                steps:
                  - { name: a, step: building, run: x }
                  - { name: b, step: testing, run: x, network: none }
            archive: { include: [] }

            """
        try await withBot(BotPlan(recipe: recipe)) { bot in
            let integration = try await bot.integrate()
            let attempt = try #require(integration.attempt("debug"))
            #expect(try bot.directory(of: attempt).job().steps.map(\.network) == [.full, .none])
        }
    }

    @Suite struct GivenASecret {
        private func plan(
            _ executor: ScriptedExecutor, bot: String, step: String = "deploy", isReleased: Bool = false
        ) -> BotPlan {
            BotPlan(
                recipe: """
                    configurations:
                      debug:
                        steps:
                          - { name: \(step), step: building, run: ./deploy, secrets: [registry-token] }
                          - { name: other, step: testing, run: x }
                    archive: { include: [] }

                    """, file: "branches: [main, other]\n\(bot)\n", executor: .scripted(executor))
        }

        @Test(
            .proves(
                .steps,
                "Secrets for jobs by name, step, configuration and ref; who may not have one is told, and nothing runs")
        )
        func testThatItGoesToTheStepThatAsksAndIntoNoFile() async throws {
            let executor = ScriptedExecutor.playing()
            let plan = plan(executor, bot: "secrets: [{ name: registry-token, branches: [main], steps: deploy }]")
            try await withBot(plan) { bot in
                // given
                try bot.secrets.set("registry-token", "hunter2-hunter2")

                // when
                let integration = try await bot.integrate()

                // then
                expectVerdict(of: integration, .succeeded)
                let job = try bot.directory(of: try #require(integration.attempt("debug"))).job()
                #expect(job.steps.map(\.secrets) == [["MARTLET_SECRET_REGISTRY_TOKEN"], []])
                #expect(job.secrets == ["MARTLET_SECRET_REGISTRY_TOKEN"])
                let given = executor.starts.map { executor.secrets(of: AttemptDirectory(path: $0)) }
                #expect(given == [["MARTLET_SECRET_REGISTRY_TOKEN": "hunter2-hunter2"]])
                let grep = try await run(["grep", "-rl", "hunter2-hunter2", bot.state.path])
                #expect(grep.stdout == "", "files of the state directory")
            }
        }

        @Test(
            .proves(.jobs, "A job that is not begun by its recipe's fault is an error and an issue"),
            .proves(
                .steps,
                "Secrets for jobs by name, step, configuration and ref; who may not have one is told, and nothing runs"),
            arguments: [
                ("", "the bot file gives it to no job; the bot's owner adds `secrets: [{ name: registry-token"),
                ("secrets: [{ name: another, branches: [main] }]", "the bot file gives it to no job"),
                (
                    "secrets: [{ name: registry-token, branches: [other, \"r/*\"] }]",
                    "gives it to jobs of branch other, branch r/*, and this is one of refs/heads/main"
                ),
                (
                    "secrets: [{ name: registry-token, branches: [main], steps: [other] }]",
                    "to other steps or configurations, not to deploy of debug"
                ),
                (
                    "secrets: [{ name: registry-token, branches: [main], configurations: [release] }]",
                    "to other steps or configurations, not to deploy of debug"
                ),
            ])
        func testThatWhoMayNotHaveItIsTold(bot lines: String, reason: String) async throws {
            let executor = ScriptedExecutor.playing()
            try await withBot(plan(executor, bot: lines)) { bot in
                // given
                try bot.secrets.set("registry-token", "hunter2-hunter2")

                // when
                let integration = try await bot.integrate()

                // then
                expectVerdict(
                    of: integration, .buildErrors,
                    because: "the step deploy asks for the secret registry-token, which it does not get: ")
                expectContains(integration.record.reason ?? "", reason)
                #expect(integration.attempts.map { $0.summary?.counts.errors } == [1])
                #expect(executor.starts.isEmpty, "nothing of it ran")
            }
        }

        /// The recipe was read and stored by an earlier version.
        @Test(
            .proves(.steps, "Two secrets of one job that would be one variable are refused, so no step gets another's"))
        func testThatNoStepGetsAnothersOfTheSameVariable() async throws {
            try await withRunningJob { bot, executor, id in
                // given
                let record = try #require(try await bot.store.integration(id))
                var request = try await bot.otherJob(of: record)
                for name in ["tok-en", "tok_en"] { try bot.secrets.set(name, "value of \(name)") }
                request.bot.jobSecrets = [
                    JobSecret(name: "tok-en", branches: [RefPattern("**")], steps: [try Samples.name("one")]),
                    JobSecret(name: "tok_en", branches: [RefPattern("**")], steps: [try Samples.name("two")]),
                ]
                request.configuration.steps = [
                    Recipe.Step(
                        name: try Samples.name("one"), kind: .building, command: .init(run: "x", secrets: ["tok-en"])),
                    Recipe.Step(
                        name: try Samples.name("two"), kind: .building, command: .init(run: "x", secrets: ["tok_en"])),
                ]

                // when
                let jobs = try bot.otherJobs(JobSlots(count: 1))
                let attempt = try await jobs.run(request, cancellation: Cancellation())

                // then
                #expect(attempt.state == .processed(.buildErrors))
                expectContains(
                    attempt.reason ?? "",
                    "the step two asks for the secret tok_en, which it does not get: tok-en, which the job has too")
                #expect(executor.starts.count == 1, "nothing of it ran")
                let first = AttemptDirectory(path: try #require(executor.starts.first))
                try await executor.cancel(first, reason: "enough", grace: .zero)
            }
        }

        @Test func testThatOneThatIsNotSetIsOurFault() async throws {
            let executor = ScriptedExecutor.playing()
            try await withBot(plan(executor, bot: "secrets: [{ name: registry-token, branches: [main] }]")) { bot in
                // given
                bot.log.expectErrors(containing: "a job failed by a fault of Martlet or its machine")

                // when
                let integration = try await bot.integrate()

                // then
                expectVerdict(
                    of: integration, .internalError, because: "set it with `martlet secret set registry-token`")
                #expect(executor.starts.isEmpty)
            }
        }
    }

    @Suite struct WhenAnImageIsNamed {
        private static let recipe = """
            configurations: { debug: { image: debian-12, build: make } }
            archive: { include: [] }

            """

        @Test func testThatItNeedsTheSandbox() async throws {
            let executor = ScriptedExecutor.playing()
            try await withBot(BotPlan(recipe: Self.recipe, executor: .scripted(executor))) { bot in
                let integration = try await bot.integrate()
                expectVerdict(
                    of: integration, .buildErrors, because: "an image needs the sandbox, in which jobs do not run here")
                #expect(executor.starts.isEmpty)
            }
        }

        @Test(.proves(.sandbox, "A recipe chooses neither what of the machine its jobs see nor a path as image"))
        func testThatItLiesInTheOwnersDirectory() async throws {
            let executor = ScriptedExecutor.playing()
            try await withTemporaryDirectory { images in
                try images.makeDirectory("images/alpine")
                try images.makeDirectory("images/debian-12")
                let plan = BotPlan(
                    recipe: Self.recipe, executor: .scripted(executor),
                    isolation: JobIsolation(
                        isolation: .sandbox, readOnly: ["/opt/swift"], path: "/opt/swift/usr/bin:/usr/bin",
                        images: images.path("images")))
                try await withBot(plan) { bot in
                    // when
                    let integration = try await bot.integrate()

                    // then
                    let job = try bot.directory(of: try #require(integration.attempt("debug"))).job()
                    #expect(job.sandbox?.root == images.path("images/debian-12"))
                    #expect(job.environment["PATH"] == Toolchains.usualPath)
                    #expect(job.sandbox?.readOnly.contains("/opt/swift") == false, "the image has its own")
                }
            }
        }

        @Test(.proves(.sandbox, "A recipe chooses neither what of the machine its jobs see nor a path as image"))
        func testThatAnotherIsToldWhichThereAre() async throws {
            let executor = ScriptedExecutor.playing()
            try await withTemporaryDirectory { images in
                try images.makeDirectory("images/ubuntu")
                try images.makeDirectory("images/.hidden")
                let plan = BotPlan(
                    recipe: Self.recipe, executor: .scripted(executor),
                    isolation: JobIsolation(isolation: .sandbox, images: images.path("images")))
                try await withBot(plan) { bot in
                    let integration = try await bot.integrate()
                    expectVerdict(
                        of: integration, .buildErrors,
                        because: "there is no image debian-12 in \(images.path("images")); there is ubuntu")
                    #expect(executor.starts.isEmpty)
                }
            }
        }
    }
}
