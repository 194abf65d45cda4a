import BotSupport
import Foundation
import Model
import TestSupport
import Testing

/// The daemon's isolation, which its settings and the machine decide.
@Suite struct DaemonIsolationTests {
    private static let files = [
        "Makefile": "all:\n\t@pwd; ls /; id -un; echo $$HOME\n", ".martlet.yml": "archive: { include: [] }\n",
    ]

    private func completion(_ daemon: Daemon) async throws -> String {
        _ = try await daemon.work.commit(files: Self.files, message: "Begin")
        try await daemon.work.push(to: daemon.remote)
        var body = ""
        try await until("the end of kit#1", limit: .seconds(30) * TestLimits.scale) {
            body = try await daemon.get("/api/v1/bots/kit/integrations/1").body
            return body.contains("\"completed\"")
        }
        return body
    }

    @Test(
        .proves(
            .sandbox,
            "`isolation: sandbox` is the default where it works; elsewhere jobs run without, with the reason. If it is stated and cannot work, the daemon does not start"
        ), .sandbox, .program("perl"), .program("curl"))
    func testThatJobsAreSandboxedUnlessTheSettingsSayOtherwise()
        async throws
    {
        try await withDaemon(settings: "") { daemon in
            // when
            let integration = try await completion(daemon)

            // then
            expectContains(integration, "\"isolation\":\"sandbox\",\"isolationReason\":null")
            expectContains(try await daemon.output("log", "kit#1"), "/martlet/kit\n")
            expectContains(try await daemon.output("log", "kit#1"), "\nmartlet\n/home/martlet\n")
            #expect(try await !daemon.get("/").body.contains("isolation: none"))
        }
    }

    @Test(
        .proves(
            .sandbox,
            "`doctor`, every page, the integration's page, API and command line say which isolation, and why none"),
        .program("perl"), .program("curl"))
    func testThatWithoutASandboxPagesAndAnswersSayWhy() async throws {
        try await withDaemon(settings: "isolation: none\n") { daemon in
            // when
            let integration = try await completion(daemon)

            // then
            let reason = "the settings say isolation: none"
            expectContains(integration, "\"isolation\":\"none\",\"isolationReason\":\"\(reason)\"")
            for page in ["/", "/bots/kit", "/bots/kit/1"] {
                expectContains(try await daemon.get(page).body, "(\(reason))")
            }
            expectContains(try await daemon.output("show", "kit#1"), "none: \(reason)")
        }
    }

    @Test(
        .proves(
            .sandbox,
            "`isolation: sandbox` is the default where it works; elsewhere jobs run without, with the reason. If it is stated and cannot work, the daemon does not start"
        ), .sandbox)
    func testThatASandboxThatCannotBeMadeAsTheSettingsSayKeepsTheDaemonFromStarting() async throws {
        try await withDaemon(settings: "sandbox: { read-only: /nowhere }\n", isStarted: false) { daemon in
            let result = try await run(
                [try TestTools.builtProduct("martlet"), "serve", "--settings", daemon.settings],
                environment: ["PATH": "/usr/bin:/bin", "HOME": daemon.directory.path])
            #expect(result.status == 78)
            expectContains(result.stderr, "sandbox: read-only: /nowhere is not there")
        }
    }
}
