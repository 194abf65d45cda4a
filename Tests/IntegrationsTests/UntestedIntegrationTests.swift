import BotSupport
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations

/// An integration without tests: its views, its publication, and the tests of the one before.
@Suite struct UntestedIntegrationTests {
    private static func recipe(_ keys: String, also: String = "") -> String {
        "configurations:\n  debug: { build: sh play building\(keys) }\n\(also)analyze: []\narchive: { include: [\"products/**\"] }\n"
    }
    private static let reason = "nothing was tested: the recipe names no test command; write `test:`, or `test: none`"

    @Test(
        .proves(.reports, "\"nothing was tested: …\" is a warning that names the commands of the project's own CI"),
        .proves(
            .reports,
            "What tests nothing is not published, also muted or `when: always`, unless the recipe says `test: none`"))
    func testThatItIsAWarningAndPublishesNothing() async throws {
        try await withBot(BotPlan(recipe: Self.recipe(""), file: BotPlan.publishing)) { bot in
            // when
            let integration = try await bot.integrate(.succeeding, on: "release/1.0")
            // then
            expectVerdict(of: integration, .warnings, because: Self.reason)
            expectIssues(
                of: integration, ["new warning \(Self.reason) if there is nothing to test"])
            #expect(integration.summary.counts.warnings == 1)
            #expect(integration.attempt("debug")?.tested == "skipped: no tests (the recipe names no test command)")
            expectTriggers(of: integration, ["publish": .skipped])
            expectContains(integration.trigger("publish")?.reason ?? "", "when: succeeded, and nothing was tested")
            try await expectPublished(by: bot, [])
        }
    }

    @Test(
        .proves(
            .reports,
            "What tests nothing is not published, also muted or `when: always`, unless the recipe says `test: none`"))
    func testThatItIsNotPublishedThoughItsTriggerAlwaysActs() async throws {
        let file = """
            branches: ["release/*"]
            triggers: [{ name: publish, branches: ["release/*"], when: always, publish: { version: branch } }]

            """
        try await withBot(BotPlan(recipe: Self.recipe(""), file: file)) { bot in
            // when
            let integration = try await bot.integrate(.succeeding, on: "release/1.0")
            // then
            expectTriggers(of: integration, ["publish": .failed])
            expectContains(integration.trigger("publish")?.reason ?? "", "nothing was tested")
            try await expectPublished(by: bot, [])
        }
    }

    @Test(
        .proves(
            .reports,
            "What tests nothing is not published, also muted or `when: always`, unless the recipe says `test: none`"))
    func testThatItPublishesIfTheRecipeSaysThatNothingIsTested() async throws {
        try await withBot(BotPlan(recipe: Self.recipe(", test: none"), file: BotPlan.publishing)) { bot in
            // when
            let integration = try await bot.integrate(.succeeding, on: "release/1.0")
            // then
            expectVerdict(of: integration, .succeeded)
            expectIssues(of: integration, [])
            #expect(integration.attempt("debug")?.tested == "not tested: the recipe says test: none")
            expectTriggers(of: integration, ["publish": .succeeded])
            try await expectPublished(by: bot, ["1.0.0"])
        }
    }

    @Test(
        .proves(
            .reports,
            "What tests nothing is not published, also muted or `when: always`, unless the recipe says `test: none`"))
    func testThatOneConfigurationThatTestsIsEnoughToPublish() async throws {
        let docs = "  docs: { build: sh play building }\n"
        let recipe = Self.recipe(", test: sh play testing, report: build/junit.xml", also: docs)
        try await withBot(BotPlan(recipe: recipe, file: BotPlan.publishing)) { bot in
            // when
            let integration = try await bot.integrate(.succeeding, on: "release/1.0")
            // then
            expectVerdict(of: integration, .warnings, because: Self.reason)
            #expect(integration.issues.map { $0.configurations.map(\.description) } == [["docs"]])
            expectTriggers(of: integration, ["publish": .succeeded])
        }
    }

    @Test(.proves(.reports, "A failing test that is gone with all others stays an issue"))
    func testThatAFailingTestThatIsGoneWithAllOthersIsNotResolved() async throws {
        try await withBot(configurations: ["debug"]) { bot in
            // given
            let first = try await bot.integrate(.failing("debug"))
            expectIssues(of: first, ["new test-failure 2 is not 3"])
            // when
            let vanished = try await bot.integrate(
                .playing(.testing, of: "debug", report: Commit.Reports.empty))
            // then
            let lost =
                "no test was reported, although the integration before had 2; if that is right, write `test: none`"
            expectVerdict(of: vanished, .testFailures, because: lost)
            expectIssues(of: vanished, ["unresolved test-failure 2 is not 3", "new test-failure \(lost)"])
            // It is so again, although the integration before had none
            let again = try await bot.integrate(
                Commit.playing(.testing, of: "debug", report: Commit.Reports.empty).and(Commit(files: ["n": "1\n"])))
            expectIssues(of: again, ["unresolved test-failure 2 is not 3", "unresolved test-failure \(lost)"])
            // It ends when the recipe states that there are none
            let stated = try await bot.integrate(Commit(files: [".martlet.yml": Self.recipe(", test: none")]))
            expectVerdict(of: stated, .succeeded)
            expectIssues(of: stated, ["resolved test-failure 2 is not 3", "resolved test-failure \(lost)"])
        }
    }
}
