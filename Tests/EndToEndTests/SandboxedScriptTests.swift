import BotSupport
import Execution
import Foundation
import Integrations
import Jobs
import Model
import Storage
import TestSupport
import Testing

/// Trigger scripts that run in the real sandbox (`sandbox: true`).
@Suite(
    .proves(
        .triggers,
        "`sandbox: true` runs a script in the sandbox, with network and its own secrets; without a sandbox the script does not run"
    ))
struct SandboxedScriptTests {
    private static func plan(_ script: String, isolation: JobIsolation, isSandboxed: Bool = true) -> BotPlan {
        BotPlan(
            file: """
                branches: [main]
                triggers: [{ name: tell, run: tell, sandbox: \(isSandboxed), secrets: [office-token], when: always }]

                """, scripts: ["tell": "#!/bin/sh\n" + script, "words": "echo the script beside it\n"],
            executor: .local,
            isolation: isolation)
    }

    private func told(_ script: String, isSandboxed: Bool = true, files: [String: String] = [:]) async throws -> String
    {
        var log = ""
        try await withBot(Self.plan(script, isolation: try .sandboxed(), isSandboxed: isSandboxed)) { bot in
            try bot.directory.write("secrets/office-token", "hunter2-hunter2\n", mode: 0o600)
            try bot.directory.write("secrets/other-token", "swordfish-swordfish\n", mode: 0o600)
            let integration = try await bot.integrate(Commit(files: files))
            let record = try #require(integration.trigger("tell"))
            #expect(record.state == .succeeded, "\(record.reason ?? "")")
            log = try bot.log(of: record).replacing(bot.directory.path, with: "")
            #expect(try bot.triggerWork(of: integration.id) == [])
        }
        return log
    }

    @Test(.sandbox) func testThatItHasItsFilesItsSecretAndTheArtifacts() async throws {
        // when
        let log = try await told(
            """
            pwd; ls -A; cat "$MARTLET_SOURCE_DIR/notes"; . "${0%/*}/words"
            echo "$MARTLET_SECRET_OFFICE_TOKEN" | wc -c
            ls "$MARTLET_ARTIFACTS" | grep -c source; echo "$HOME $USER $TMPDIR $MARTLET_RESULT"
            echo made >"$MARTLET_SOURCE_DIR/made" && echo writable; touch "$MARTLET_ARTIFACTS/x" 2>/dev/null || echo kept

            """, files: ["notes": "a commit's\n"])
        // then
        #expect(
            log == """
                /martlet/kit/run
                a commit's
                the script beside it
                16
                1
                /home/martlet martlet /tmp succeeded
                writable
                kept

                """)
    }

    private static let attack = """
        ls {directory}/state/martlet.sqlite {directory}/secrets/office-token {directory}/bots/kit.yml 2>/dev/null | wc -l
        touch {directory}/planted 2>/dev/null; exit 0

        """

    @Test(.sandbox, arguments: [true, false]) func testThatItSeesNothingOfTheService(isSandboxed: Bool) async throws {
        var log = ""
        try await withBot(Self.plan("", isolation: try .sandboxed(), isSandboxed: isSandboxed)) { bot in
            // given
            try bot.directory.write("secrets/office-token", "hunter2-hunter2\n", mode: 0o600)
            try bot.directory.write(
                "triggers/tell", "#!/bin/sh\n" + Self.attack.replacing("{directory}", with: bot.directory.path),
                mode: 0o755)
            // when
            let integration = try await bot.integrate()
            log = try bot.log(of: try #require(integration.trigger("tell")))
            // then: outside, as the operator's own script, it does.
            #expect(FileManager.default.fileExists(atPath: bot.directory.path("planted")) == !isSandboxed)
        }
        #expect(log == (isSandboxed ? "0\n" : "3\n"))
    }

    @Test(.sandbox, .program("slirp4netns")) func testThatItHasTheNetworkAndNotTheLoopback() async throws {
        // given
        let listener = try LoopbackSocket()
        defer { listener.stop() }
        // when
        let log = try await told(
            """
            exec 2>/dev/null
            bash -c 'exec 3<>/dev/tcp/127.0.0.1/\(listener.port)' && echo reached || echo refused
            ls /sys/class/net 2>/dev/null; cut -d: -f1 /proc/net/dev | grep -c tap

            """)
        // then
        #expect(log == "refused\n1\n")
    }

    /// A script that is to be confined never runs outside of a sandbox.
    @Test func testThatItDoesNotRunWhereThereIsNoSandbox() async throws {
        let isolation = JobIsolation(isolation: .none(reason: "bubblewrap is missing"))
        try await withBot(Self.plan("touch {directory}/planted\n", isolation: isolation)) { bot in
            // given
            try bot.directory.write("secrets/office-token", "hunter2-hunter2\n", mode: 0o600)
            // when
            let integration = try await bot.integrate()
            // then
            expectTriggers(of: integration, ["tell": .failed])
            let reason = integration.trigger("tell")?.reason ?? ""
            expectContains(reason, "there is no sandbox here: bubblewrap is missing")
            expectContains(reason, "`sandbox: false`")
            #expect(try bot.triggerWork(of: integration.id) == [])
        }
    }
}
