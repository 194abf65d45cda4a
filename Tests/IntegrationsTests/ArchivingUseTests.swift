import BotSupport
import Execution
import Integrations
import JobProtocol
import Model
import TestSupport
import Testing

/// Products are made only for a configuration in which something uses them.
@Suite struct ArchivingUseTests {
    private static let recipe = """
        configurations:
          debug: { test: sh play testing, report: build/junit.xml }
        analyze: []

        """

    private static func telling(_ keys: String) -> String { "triggers: [{ name: tell, run: tell\(keys) }]\n" }

    @Test(
        .proves(
            .steps,
            "Products are archived only if a later trigger or the recipe uses them; page, API, `martlet artifacts`, `--plan` and logs say why they are not"
        ),
        arguments: [
            ("", "", "main", false), ("archive: {}\n", "", "main", true),
            ("archive: { include: [] }\n", BotPlan.publishing, "release/1.0", false),
            ("", BotPlan.publishing, "main", false), ("", BotPlan.publishing, "release/1.0", true),
            ("", telling(""), "main", true), ("", telling(", when: failed"), "main", false),
            ("", telling(", when: [failed, fixed]"), "main", true), ("", telling(", phase: before"), "main", false),
        ] as [(String, String, String, Bool)])
    func testThatProductsAreMadeOnlyWhereSomethingUsesThem(
        archive: String, file: String, branch: String, isArchived: Bool
    ) async throws {
        let plan = BotPlan(recipe: Self.recipe + archive, file: file, scripts: ["tell": "#!/bin/sh\n"])
        try await withBot(plan) { bot in
            // when
            let integration = try await bot.integrate(Commit(files: ["Makefile": "all:\n\ttrue\n"]), on: branch)
            let plans = try await bot.operations.pushPlans(bot: bot.name)
            // then: the job, with the same verdict in either case
            expectVerdict(of: integration, .succeeded)
            let attempt = try #require(integration.attempt("debug"))
            let job = try bot.directory(of: attempt).job()
            #expect(job.steps.map(\.name) == ["build", "test"] + (isArchived ? ["archive"] : []))
            #expect(job.collect.isEmpty == !isArchived)
            // then: the plan of the push
            let push = try #require(plans.branches.first { $0.ref == RefName(branch: branch) })
            #expect((push.archive != nil) == isArchived)
            #expect((push.notArchived == nil) == isArchived)
        }
    }
}
