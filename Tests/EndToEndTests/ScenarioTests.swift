import Basics
import BotSupport
import Execution
import Integrations
import Jobs
import Model
import Settings
import Storage
import TestSupport
import Testing

/// The complete processing of a commit with the real supervisor, the real git and real tools, for every directory of `Scenarios`.
@Suite struct ScenarioTests {
    @Test(
        .proves(.settings, "A recipe is in the repository or in the bot file"),
        .proves(.sourceControl, "The recipe is read from the mirror's tree, before any checkout"),
        .proves(.steps, "Analyze as a step of its own, before build"),
        .proves(.steps, "Where no analyzer applies, \"not analyzed\""),
        .proves(
            .steps,
            "Build and test a Swift package: `swift build --build-tests`, `swift test --skip-build` with event stream and xUnit"
        ), .proves(.steps, "No test target: *skipped: no tests*"),
        .proves(.steps, "Make: `make`, then `make check`, else `make test`"),
        .proves(
            .reports,
            "Coverage is stored for each attempt and shown beside the configuration's last one: on the page, in the API and by `martlet show`"
        ),
        .proves(
            .reports,
            "A recipe's report without a test, tests that are all skipped, and a test step that is gone are red"),
        .proves(.versions, "`version: branch`: release/1.4 → 1.4.0, 1.4.1"),
        .proves(.triggers, "Script, from `triggers/` beside `bots/`, never one of the repository"),
        .proves(.triggers, "Publish"), .proves(.triggers, "Upload"),
        .proves(.triggers, "In their order; a failed one stops the later ones, what was published stays"),
        .proves(.triggers, "Conditions `succeeded`, `clean`, `failed`, `fixed`, `always`"),
        .proves(.triggers, "`phase: before`"), .proves(.testsAndPages, "Scenarios run end to end"),
        .proves(.badInput, "A recipe with errors: build-errors with file and line"),
        .proves(.badInput, "Code that does not compile: build-errors"),
        .proves(.badInput, "Tests that crash: test-failures, with the signal"),
        .proves(.badInput, "Tests that hang: test-failures, with the limit and the name of the test"),
        .proves(.issueHistory, "New, unresolved, resolved; nothing is resolved by absence"),
        .timeLimit(TestLimits.minutes(4)), arguments: try Scenario.all())
    func testThatItEndsAsExpected(scenario: Scenario) async throws {
        try await run(scenario, isolation: JobIsolation(isolation: .none(reason: "of the test")))
    }

    /// Results, issues with their paths, tests and logs are the same in the sandbox.
    @Test(
        .proves(.sandbox, "Results, issues, paths, tests and logs are the same with and without the sandbox"), .sandbox,
        .timeLimit(TestLimits.minutes(4)), arguments: try Scenario.all())
    func testThatItEndsTheSameInTheSandbox(scenario: Scenario) async throws {
        try await run(scenario, isolation: try .sandboxed())
    }

    private func run(_ scenario: Scenario, isolation: JobIsolation) async throws {
        try await withScenario(scenario, isolation) { bot in
            for (name, value) in scenario.expected.secrets ?? [:] { try bot.secrets.set(name, value) }
            for (index, expected) in scenario.expected.integrations.enumerated() {
                // given
                var commit = Commit(files: try scenario.files("\(index + 1)"), message: "Commit \(index + 1)")
                let removed = commit.files.removeValue(forKey: "DELETE")?.split(separator: "\n").map(String.init) ?? []

                // when
                let integration = try await bot.integrate(
                    commit, removing: removed, on: scenario.expected.branch ?? "main",
                    limit: .seconds(120) * TestLimits.scale)

                // then
                try await expect(integration, expected, in: bot)
            }
        }
    }

    @Test(.proves(.testsAndPages, "Scenarios run end to end"))
    func testThatThereAreScenarios() throws {
        #expect(try Scenario.all().count > 10)
    }

    private func withScenario(
        _ scenario: Scenario, _ isolation: JobIsolation, _ body: (Bot) async throws -> Void
    ) async throws {
        let plan = BotPlan(
            recipe: nil, isRepositoryEmpty: true, file: scenario.file, scripts: try scenario.files("triggers"),
            executor: .local, isolation: isolation)
        try await withBot(plan, body)
    }

    private func expect(_ integration: Integrated, _ expected: Scenario.Integration, in bot: Bot) async throws {
        expectResult(of: integration, expected.result)
        if let reason = expected.reason { expectContains(integration.record.reason ?? "", reason) }
        for (configuration, steps) in expected.steps ?? [:] {
            var wanted: [JobStep: StepOutcome] = [:]
            for (step, outcome) in steps {
                let (step, outcome) = (JobStep(rawValue: step), StepOutcome(rawValue: outcome))
                let known: StepOutcome = try #require(outcome)
                wanted[try #require(step)] = known
            }
            expectSteps(of: integration, wanted, in: configuration)
        }
        if let issues = expected.issues { expectIssues(of: integration, issues) }
        if let triggers = expected.triggers {
            expectTriggers(of: integration, try triggers.mapValues { try #require(TriggerState(rawValue: $0)) })
        }
        for (trigger, reason) in expected.triggerReasons ?? [:] {
            expectContains(integration.trigger(trigger)?.reason ?? "", reason)
        }
        if let tests = expected.tests { #expect(integration.summary.counts.tests == tests) }
        for (configuration, text) in expected.tested ?? [:] {
            #expect(integration.attempt(configuration)?.tested == text)
        }
        for (configuration, text) in expected.analysis ?? [:] {
            expectContains(integration.attempt(configuration)?.analysis ?? "", text)
        }
        for (configuration, text) in expected.coverage ?? [:] {
            let all = try await bot.store.coverage(of: integration.record.id)
            let found = try #require(all.first { $0.attempt.job.description == configuration })
            let (lines, files) = (found.coverage.lines, found.coverage.files.count)
            let change =
                found.before.map { ", \(found.delta?.pointsText ?? "") against #\($0.integration.number)" } ?? ""
            #expect("\(lines.text) of \(lines.total) lines in \(files) files" + change == text)
        }
        if let versions = expected.versions { try await expectPublished(by: bot, versions) }
        for (path, text) in expected.files ?? [:] { expectFile(bot.directory.path(path), text) }
        for (configuration, text) in expected.logs ?? [:] {
            let id = try #require(integration.attempt(configuration)?.id)
            let directory = AttemptDirectory(path: bot.state.attempt(id.integration, job: id.job, attempt: id.attempt))
            expectContains(String(decoding: try directory.readLog(from: 0, count: 1 << 20), as: UTF8.self), text)
        }
    }
}
