import BotSupport
import Execution
import ExecutionSupport
import Settings
import Storage
import TestSupport
import Testing

/// The keys of signatures, which a whole service gives to no bot.
@Suite(.program("ssh-keygen")) struct WithheldKeyTests {
    enum Way: CaseIterable, Sendable {
        case job, script, upload

        func file(_ secret: String) -> String {
            switch self {
            case .job: "secrets: [{ name: \(secret), branches: [\"release/*\"] }]\n"
            case .script: "triggers: [{ name: ask, run: tell, secrets: [\(secret)] }]\n"
            case .upload:
                "triggers: [{ name: ask, branches: [\"release/*\"], upload: \"https://files.example/\", credentials: \(secret) }]\n"
            }
        }

        func recipe(_ secret: String) -> String? {
            guard self == .job else { return nil }
            let step = "{ name: make, step: building, run: \"true\", secrets: [\(secret)] }"
            return "configurations:\n  debug:\n    test: none\n    steps:\n      - \(step)\nanalyze: []\n"
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: `SHA256SUMS.sig`, which `ssh-keygen -Y verify` accepts; its key from a systemd credential, out of reach of jobs"
        ), arguments: Way.allCases, ["signing-key", "old-key", "office-token"])
    func testU9ThatNobodyIsGivenAKeyThatVouches(way: Way, secret: String) async throws {
        let executor = ScriptedExecutor.playing()
        var plan = BotPlan(
            recipe: way.recipe(secret), file: "branches: [\"release/*\"]\n" + way.file(secret),
            scripts: ["tell": "#!/bin/sh\n"], executor: .scripted(executor))
        plan.signing = "signing-key"
        try await withBot(plan, isStarted: false) { bot in
            // given: the present key; an earlier one, whose file was left and which is still valid; and a file that is no key
            for name in ["signing-key", "old-key"] {
                try await runExpectingSuccess(
                    ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", bot.directory.path(name)])
                try bot.secrets.set(name, bot.directory.text(name))
            }
            try bot.secrets.set("office-token", "ada:hunter2-hunter2")
            let old = try bot.directory.text("old-key.pub").split(separator: " ").prefix(2).joined(separator: " ")
            try bot.directory.write("state/files/ALLOWED_SIGNERS", "https://ci.acme.example \(old)\n")
            bot.transport.serve("https://files.example/")
            try await bot.start()

            if way == .job, secret != "office-token" {
                bot.log.expectErrors(containing: "a job failed by a fault of Martlet or its machine")
            }

            // when
            let integration = try await bot.integrate(on: "release/1.0")

            // then
            let given = executor.starts.flatMap { executor.secrets(of: AttemptDirectory(path: $0)).keys }
            let isSent = bot.transport.takeRequests().contains { $0.credentials != nil }
            #expect((given == [] && !isSent) == (secret != "office-token"))
            if secret == "office-token" {
                expectResult(of: integration, "succeeded")
            } else if way == .job {
                #expect(integration.result != "succeeded")
            } else {
                expectResult(of: integration, "trigger-error")
                expectContains(integration.trigger("ask")?.reason ?? "", "no bot is given it")
            }
        }
    }
}
