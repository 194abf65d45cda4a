import BotSupport
import Integrations
import Jobs
import Model
import Storage
import TestSupport
import Testing

/// `publish: { version: { command: … } }` and `{ file: … }` with a real bot, with the real sandbox and without.
@Suite(
    .proves(
        .releases,
        "Versions: `version: { file: VERSION }` and `version: { command: … }`, the latter sandboxed like a job"),
    .sandbox)
struct VersionCommandTests {
    private static let recipe = """
        configurations:
          debug:
            test: none
            steps:
              - { name: make, step: building, run: "printf bytes > kit" }
        analyze: []
        archive: { include: [kit] }

        """

    private func plan(_ version: String, _ isolation: JobIsolation) -> BotPlan {
        BotPlan(
            isRepositoryEmpty: true,
            file: """
                branches: [main]
                triggers:
                  - { name: publish, branches: [main], publish: { version: \(version) }, timeout: 30m }

                """,
            executor: .local, isolation: isolation)
    }

    private static let unsandboxed = JobIsolation(isolation: .none(reason: "of the test"))

    @Test func testThatItRunsAsTheJobDidWithoutNetworkAndSecrets() async throws {
        // given: a command that prints 9.9.9 if it reaches what it must not
        let listener = try LoopbackSocket()
        defer { listener.stop() }
        let script = """
            cat VERSION.in | tr -d x
            git rev-parse HEAD >&2
            bash -c 'exec 3<>/dev/tcp/127.0.0.1/\(listener.port)' 2>/dev/null && echo 9.9.9
            [ -n "$MARTLET_COMMIT" ] || echo 9.9.9
            [ -e kit ] && echo 9.9.9
            exit 0
            """
        for (isolation, version) in [(try JobIsolation.sandboxed(), "1.4.0"), (Self.unsandboxed, "")] {
            try await withBot(plan("{ command: sh ./version }", isolation)) { bot in
                // when
                let integration = try await bot.integrate(
                    Commit(files: [".martlet.yml": Self.recipe, "version": script, "VERSION.in": "1.4x.0x\n"]))

                // then
                let trigger = try #require(integration.trigger("publish"))
                if version.isEmpty {
                    // Without a sandbox the network cannot be blocked: the second line is no version.
                    expectContains(trigger.reason ?? "", "which is not a version")
                    try await expectPublished(by: bot, [])
                } else {
                    expectResult(of: integration, "succeeded")
                    #expect(trigger.reason == "published 1.4.0")
                    try await expectPublished(by: bot, ["1.4.0"])
                    let log = try #require(trigger.log)
                    expectContains(
                        try bot.directory.text("state/\(log)/log"), integration.record.commit.description)
                }
            }
        }
    }

    @Test(arguments: [
        ("echo 1.0.0; exit 3", "the version command failed"),
        ("true", "the command says \"\", which is not a version"),
        ("head -c 5000 /dev/zero", "the output of the version command cannot be read"),
        ("rm .martlet-version; ln -s VERSION .martlet-version", "cannot be read"),
        ("echo v1.0; echo 1.0.0", "which is not a version"), ("sleep 1000", "the version command failed"),
    ])
    func testThatWhatIsNoVersionPublishesNothing(command: String, reason: String) async throws {
        // given: a short limit for a command that does not end
        let timeout = command.hasPrefix("sleep") ? "2s" : "30m"
        let plan = BotPlan(
            isRepositoryEmpty: true,
            file: """
                branches: [main]
                triggers:
                  - { name: publish, branches: [main], publish: { version: { command: "\(command)" } }, timeout: \(timeout) }

                """,
            executor: .local, isolation: try .sandboxed())
        try await withBot(plan) { bot in
            let integration = try await bot.integrate(Commit(files: [".martlet.yml": Self.recipe, "VERSION": "1.0.0"]))
            expectResult(of: integration, "trigger-error")
            expectContains(integration.trigger("publish")?.reason ?? "", reason)
            try await expectPublished(by: bot, [])
        }
    }

    @Test func testThatAFilesVersionIsPublishedOnceAndThenSkippedUntilItIsRaised() async throws {
        try await withBot(plan("{ file: VERSION }", try .sandboxed())) { bot in
            // when
            let first = try await bot.integrate(
                Commit(files: [".martlet.yml": Self.recipe, "VERSION": "v2.0.0-rc.1\n"]))
            let same = try await bot.integrate(Commit(files: ["more": "x"]))
            let raised = try await bot.integrate(Commit(files: ["VERSION": "2.0.0\n"]))

            // then
            #expect(first.trigger("publish")?.reason == "published 2.0.0-rc.1")
            #expect(same.trigger("publish")?.state == .skipped)
            expectContains(same.trigger("publish")?.reason ?? "", "no new version: 2.0.0-rc.1 is published from")
            expectResult(of: same, "succeeded")
            #expect(raised.trigger("publish")?.reason == "published 2.0.0")
            try await expectPublished(by: bot, ["2.0.0-rc.1", "2.0.0"])
        }
    }
}
