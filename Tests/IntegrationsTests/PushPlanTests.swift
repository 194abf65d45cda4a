import BotSupport
import Execution
import JobProtocol
import Model
import Settings
import SourceControl
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs
@testable import Releases

/// The plan of a push before it is made equals what its integration runs.
@Suite struct PushPlanTests {
    private func planned(_ branch: String, by bot: Bot) async throws -> PushPlan {
        let plans = try await bot.operations.pushPlans(bot: bot.name)
        return try #require(plans.branches.first { $0.ref == RefName(branch: branch) }, "\(plans.notes)")
    }

    private func jobs(_ plan: PushPlan) throws -> [PushPlan.Job] {
        guard case .planned(_, let jobs) = plan.content else {
            throw BotFailure("not planned: \(plan.content), \(plan.diagnostics)")
        }
        return jobs
    }

    /// Expects the plan's jobs to be those that an integration ran.
    private func expectSame(_ jobs: [PushPlan.Job], as integration: Integrated, by bot: Bot) throws {
        let names = jobs.map(\.configuration.name.description)
        #expect(Set(names) == Set(integration.attempts.map(\.id.job.description)))
        for job in jobs {
            let attempt = try #require(integration.attempt(job.configuration.name.description))
            let ran = try bot.directory(of: attempt).job()
            #expect(job.plan.steps.map(\.name) == ran.steps.map(\.name))
            #expect(job.plan.steps.map(\.arguments) == ran.steps.map(\.arguments))
            #expect(job.plan.steps.map(\.network) == ran.steps.map(\.network))
            #expect(job.plan.steps.map(\.report) == ran.steps.map(\.report))
            #expect(job.plan.steps.map(\.timeoutMilliseconds) == ran.steps.map(\.timeoutMilliseconds))
            #expect(job.plan.collect == ran.collect)
            #expect(job.problem == nil)
        }
    }

    @Suite struct GivenARecipe {
        @Test(
            .proves(
                .jobs,
                "`martlet bot NAME --plan` shows what the next push of each watched branch would run, archive and publish, and a wrong recipe's messages, for at most 20 branches"
            ))
        func testThatEachConfigurationIsWhatItsIntegrationRan() async throws {
            let tests = PushPlanTests()
            try await withBot(BotPlan(configurations: ["debug", "release"], file: BotPlan.publishing)) { bot in
                // given
                let integration = try await bot.integrate(on: "release/1.0")
                // when
                let plan = try await tests.planned("release/1.0", by: bot)
                // then
                try tests.expectSame(try tests.jobs(plan), as: integration, by: bot)
                #expect(plan.isRelease)
                #expect(plan.commit == integration.record.commit)
                #expect(
                    plan.archive
                        == PushPlan.Archive(
                            configuration: try Samples.name("release"), include: ["products/**"], hasProducts: true,
                            hasSource: true))
                // This commit published 1.0.0.
                #expect(plan.actions.map(\.trigger.name.description) == ["publish"])
                #expect(plan.actions.first?.prospect == .version(SemanticVersion(1, 0, 1)))
            }
        }

        @Test func testThatAWrongRecipeIsRefusedWithItsMessages() async throws {
            try await withBot(BotPlan(recipe: "configurations: { debug: { bild: make } }\n")) { bot in
                // given
                let integration = try await bot.integrate()
                expectVerdict(of: integration, .buildErrors)
                // when
                let plan = try await PushPlanTests().planned("main", by: bot)
                // then
                guard case .refused = plan.content else { throw BotFailure("not refused: \(plan.content)") }
                expectContains(plan.diagnostics.map(\.description).joined(separator: "\n"), ".martlet.yml:1:")
                expectContains(plan.diagnostics.map(\.description).joined(separator: "\n"), "bild")
                #expect(plan.actions.isEmpty)
            }
        }

        @Test func testThatASecretThatAStepDoesNotGetIsTheProblem() async throws {
            let recipe = """
                configurations:
                  debug: { steps: [{ name: deploy, step: building, run: make, secrets: [token] }] }
                analyze: []
                archive: { include: [] }

                """
            try await withBot(BotPlan(recipe: recipe)) { bot in
                // given
                let integration = try await bot.integrate()
                // when
                let job = try #require(
                    try PushPlanTests().jobs(try await PushPlanTests().planned("main", by: bot)).first)
                // then: in the integration's words
                let problem = try #require(job.problem)
                expectContains(problem, "asks for the secret token, which it does not get")
                expectVerdict(of: integration, .buildErrors, because: problem)
            }
        }
    }

    @Suite struct GivenNoRecipe {
        @Test(arguments: [
            ["Sources/C/c.c": ""], ["Sources/Kit/Kit.swift": "", "notes.c.txt": ""], [".hidden/c.c": ""],
            ["Sources/Kit/Kit.swift": "", ".swift-format": "{}"],
        ]) func testThatAPackageIsPlannedAsItRan(files: [String: String]) async throws {
            let package = [
                "Package.swift": "// swift-tools-version: 6.0\n// .package(url: \"x\")\n", ".gitignore": ".build/\n",
            ]
            // In the sandbox a separate step resolves the dependencies that the manifest may name.
            let plan = BotPlan(isRepositoryEmpty: true, isolation: JobIsolation(isolation: .sandbox))
            try await withBot(plan) { bot in
                // given
                let integration = try await bot.integrate(Commit(files: package.merging(files) { $1 }))
                // when
                let plan = try await PushPlanTests().planned("main", by: bot)
                // then
                try PushPlanTests().expectSame(try PushPlanTests().jobs(plan), as: integration, by: bot)
            }
        }

        @Test(
            .proves(
                .jobs,
                "`martlet bot NAME --plan` shows what the next push of each watched branch would run, archive and publish, and a wrong recipe's messages, for at most 20 branches"
            ))
        func testThatAReleaseBranchIsBuiltOptimized() async throws {
            let files = ["Cargo.toml": "[package]\nname = \"kit\"\nversion = \"0.1.0\"\n", "src/lib.rs": ""]
            try await withBot(BotPlan(isRepositoryEmpty: true, file: BotPlan.publishing)) { bot in
                // given
                let integration = try await bot.integrate(Commit(files: files), on: "release/1.0")
                // when
                let plan = try await PushPlanTests().planned("release/1.0", by: bot)
                // then
                let jobs = try PushPlanTests().jobs(plan)
                #expect(jobs.map(\.configuration.name.description) == ["release"])
                let build = try #require(jobs.first?.plan.steps.first { $0.name == "build" })
                expectContains(build.shownCommand(tools: "/s"), "set -- --release\n")
                #expect(!build.shownCommand(tools: "/s").contains("missing()"), "the prelude is no part of it")
                try PushPlanTests().expectSame(jobs, as: integration, by: bot)
            }
        }
    }

    @Suite struct GivenAMirror {
        @Test func testThatAPatternThatMatchesNoBranchIsNamed() async throws {
            try await withBot(BotPlan(file: "branches: [main, develop]\n")) { bot in
                // given
                try await bot.integrate()
                // when
                let plans = try await bot.operations.pushPlans(bot: bot.name)
                // then
                #expect(plans.notes == ["no branch of the repository matches `develop`"])
                #expect(plans.branches.map(\.ref) == [RefName(branch: "main")])
            }
        }

        @Test func testThatABotThatIsNotThereIsNotFound() async throws {
            try await withBot { bot in
                // given
                try await bot.integrate()
                // when
                let error = await #expect(throws: OperationError.self) {
                    try await bot.operations.pushPlans(bot: try Samples.name("other"))
                }
                // then
                #expect(error?.code == .notFound)
            }
        }
    }

    @Suite struct GivenWhatWasPublished {
        private func prospect(
            _ source: Trigger.VersionSource, _ fixture: PublisherFixture, on branch: String, at tip: CommitID
        ) async throws -> Publisher.Prospect {
            try await fixture.mirror.fetch(try await fixture.mirror.scan().heads)
            return try await fixture.publisher.prospect(
                of: source, product: fixture.product, ref: RefName(branch: branch), tip: tip, mirror: fixture.mirror)
        }

        @Test(
            .proves(
                .jobs,
                "`martlet bot NAME --plan` shows what the next push of each watched branch would run, archive and publish, and a wrong recipe's messages, for at most 20 branches"
            ))
        func testThatABranchsNextVersionIsTheOneThatItsNextCommitGets() async throws {
            try await withPublisher { fixture in
                // given
                try await fixture.work.branch("release/1.0")
                let first = try await fixture.commit("a")
                #expect(
                    try await prospect(.branch, fixture, on: "release/1.0", at: first)
                        == .version(SemanticVersion(1, 0, 0)))
                try await fixture.publish(first)
                // when
                let told = try await prospect(.branch, fixture, on: "release/1.0", at: first)
                let publication = try await fixture.publish(try await fixture.commit("b"))
                // then
                #expect(told == .version(SemanticVersion(1, 0, 1)))
                #expect(publication == .published(SemanticVersion(1, 0, 1)))
            }
        }

        @Test func testThatABranchWithoutALineGetsNoVersion() async throws {
            try await withPublisher { fixture in
                let tip = try await fixture.commit("a")
                #expect(
                    try await prospect(.branch, fixture, on: "release/next", at: tip)
                        == .noVersion("release/next names no MAJOR.MINOR; name release branches such as release/1.4"))
                #expect(
                    try await prospect(.tag, fixture, on: "main", at: tip)
                        == .noVersion("main is not a tag that names a version; tags such as 1.4.0 or v1.4.0 do"))
            }
        }

        @Test func testThatAStatedVersionIsPublishedOnce() async throws {
            try await withPublisher { fixture in
                // given
                let source = Trigger.VersionSource.file("version")
                let tip = try await fixture.commit("2.0.0")
                let branch = try await fixture.work.git("branch", "--show-current").filter { !$0.isNewline }
                #expect(
                    try await prospect(source, fixture, on: branch, at: tip) == .version(SemanticVersion(2, 0, 0)))
                try await fixture.publish(tip, ref: RefName(branch: branch), source: source)
                // when
                let told = try await prospect(source, fixture, on: branch, at: tip)
                // then
                #expect(
                    told
                        == .noVersion(
                            "version states 2.0.0, which is published from \(tip.abbreviated); a push that states another version is published"
                        ))
            }
        }

        @Test func testThatWhatACommandPrintsIsNotKnownBefore() async throws {
            try await withPublisher { fixture in
                let tip = try await fixture.commit("a")
                #expect(
                    try await prospect(.command("./next"), fixture, on: "main", at: tip)
                        == .unknown("what `./next` prints"))
            }
        }
    }

    @Suite struct GivenACommand {
        private func shown(_ arguments: [String]) -> String {
            JobDescription.Step(step: "building", name: "build", arguments: arguments, timeoutMilliseconds: 1)
                .shownCommand(tools: "/usr/lib/martlet/martlet-tools")
        }

        @Test(arguments: [
            "make", "./configure\nmake | tee log", "#!/usr/bin/env bash\nset -x", "#!/usr/bin/python3\np()",
        ])
        func testThatARecipesOwnTextIsShown(text: String) {
            #expect(shown(ShellCommand.arguments(for: text)) == text)
        }

        @Test func testThatWordsAreQuoted() {
            #expect(shown(["swift", "build", "-Xcc", "-DA='b c'"]) == #"swift build -Xcc '-DA='\''b c'\'''"#)
        }

        @Test func testThatOurOwnProgramHasNoPath() {
            #expect(
                shown(["/usr/lib/martlet/martlet-tools", "--analyze-c", "x"]) == "martlet-tools --analyze-c x"
            )
        }
    }
}
