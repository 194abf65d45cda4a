import Basics
import Foundation
import Model
import TestSupport
import Testing

/// The installed service, used only by programs: git, the hook, the daemon, the command line, curl.
@Suite struct DaemonTests {
    private static let publishing = """
        branches: ["release/*"]
        triggers:
          - { name: publish, branches: ["release/*"], publish: { version: branch } }

        """

    private static let files = [
        "Makefile":
            "all:\n\t@echo compiling; echo made >kit.txt\ncheck:\n\t@mkdir -p build && cp report.xml build/junit.xml\n",
        "report.xml": "<testsuite name=\"Kit\"><testcase classname=\"Kit\" name=\"adds\"/></testsuite>\n",
        ".gitignore": "build/\nkit.txt\n",
        ".martlet.yml": "configurations:\n  debug: { report: build/junit.xml }\narchive: { include: [kit.txt] }\n",
    ]

    /// Waits until an integration is completed.
    private func completion(of number: Int, _ daemon: Daemon) async throws -> String {
        var body = ""
        try await until("the end of kit#\(number)", limit: .seconds(30) * TestLimits.scale) {
            body = try await daemon.get("/api/v1/bots/kit/integrations/\(number)").body
            return body.contains("\"completed\"")
        }
        return body
    }

    @Test(
        .proves(
            .intake,
            "`hooks/post-receive` sends one signed request for all refs; more than the daemon takes ask for a scan"),
        .proves(.intake, "`hooks/post-receive` calls the webhook"), .program("perl"), .program("curl"))
    func testThatASignedPushBecomesAVersionThatAnotherTeamDownloads() async throws {
        try await withDaemon(bot: Self.publishing) { daemon in
            // given
            let commit = try await daemon.work.commit(files: Self.files, message: "Begin")
            try await daemon.work.branch("release/1.0")

            // when: the hook sends its event to the daemon
            try await daemon.work.push(to: daemon.remote)
            let integration = try await completion(of: 1, daemon)

            // then: by HTTP
            expectContains(integration, commit.description)
            expectContains(integration, "\"succeeded\"")
            let sums = try await daemon.get("/files/kit/1.0.0/SHA256SUMS")
            #expect(sums.status == 200)
            #expect(try await daemon.get("/files/kit/1.0.1/SHA256SUMS").status == 404)
            let latest = try await daemon.get("/files/kit/latest/SHA256SUMS")
            #expect([200, 302, 303, 307].contains(latest.status))

            // and by the command-line tool
            let download = try daemon.directory.makeDirectory("download")
            let fetched = try await daemon.output("fetch", "kit@~1.0", "--output", download)
            #expect(fetched.split(separator: "\n").count == 2)
            try Data(sums.body.utf8).write(to: URL(fileURLWithPath: download + "/SHA256SUMS"))
            let check = try await run(["sha256sum", "-c", "--ignore-missing", "SHA256SUMS"], in: download)
            #expect(check.status == 0, "\(check.stderr)")
            #expect(check.stdout.split(separator: "\n").allSatisfy { $0.hasSuffix(": OK") })

            // The next push is the next version
            _ = try await daemon.work.commit(files: ["again": ""], message: "Again")
            try await daemon.work.push(to: daemon.remote)
            _ = try await completion(of: 2, daemon)
            let versions = try await daemon.output("versions", "kit")
            #expect(versions.split(separator: "\n").map { $0.prefix(5) } == ["VERSI", "1.0.1", "1.0.0"])
            try await until("nothing waits in the hook's spool") { try daemon.remote.spooled() == [] }
        }
    }

    @Test(
        .proves(.settings, "`bot NAME --resolved` prints the bot with its defaults"),
        .proves(.intake, "A user starts an integration by the command line"),
        .proves(
            .programs,
            "`martlet`: serve, doctor; lint, init, schema; bots, bot, webhook, integrate, integrations, show, log, issues, tests, artifacts, cancel, rerun; versions, fetch, yank; token, secret"
        ))
    func testThatTheCommandsSayWhatIsThere() async throws {
        try await withDaemon { daemon in
            // given
            _ = try await daemon.work.commit(files: Self.files, message: "Begin")
            try await daemon.work.push(to: daemon.remote)

            // when, then
            let green = try await daemon.martlet("integrate", "kit", "--wait")
            #expect(green.status == 0, "\(green.stderr)")
            expectContains(green.stdout, "succeeded")
            expectContains(try await daemon.output("bots"), "kit")
            expectContains(try await daemon.output("bot", "kit", "--resolved"), "repository: \(daemon.remote.path)")
            expectContains(try await daemon.output("integrations", "kit"), "succeeded")
            expectContains(try await daemon.output("show", "kit"), "1 test, 0 failing")
            expectContains(try await daemon.output("tests", "kit"), "Kit/adds")
            expectContains(try await daemon.output("artifacts", "kit"), "kit-")
            expectContains(try await daemon.output("log", "kit"), "compiling")
            expectContains(try await daemon.output("webhook", "kit"), "/webhooks/push/kit")
            #expect(try await daemon.output("issues", "kit") == "")

            // and a red integration
            let broken = "all:\n\t@echo \"kit.c:3:5: error: expected ';'\" >&2; exit 1\n"
            _ = try await daemon.work.commit(files: ["Makefile": broken], message: "Break")
            try await daemon.work.push(to: daemon.remote)
            let red = try await daemon.martlet("integrate", "kit", "--wait")
            #expect(red.status == 1)
            expectContains(red.stdout, "build-errors")
            expectContains(try await daemon.output("issues", "kit"), "kit.c:3:5: error: expected ';' [debug]")

            // Numbers that do not exist
            #expect(try await daemon.martlet("show", "kit#99").status == 66)
            #expect(try await daemon.martlet("bot", "nobody").status == 66)
            let nowhere = try await daemon.martlet("integrate", "kit", "--commit", "nowhere")
            #expect(nowhere.status == 66, "\(nowhere.stderr)")
            #expect(try await daemon.martlet("cancel", "kit#1").status == 1)
            #expect(try await daemon.martlet("show", "a b").status == 64)
        }
    }

    @Test func testThatTokensSayWhoMayDoWhat() async throws {
        try await withDaemon { daemon in
            // given
            let viewer = try await daemon.output("token", "create", "wall", "--role", "viewer").trimmed
            let operating = try await daemon.output("token", "create", "hand", "--role", "operator").trimmed
            _ = try await daemon.work.commit(files: Self.files, message: "Begin")
            try await daemon.work.push(to: daemon.remote)
            func integrate(_ token: String?) async throws -> Int32 {
                var arguments = ["integrate", "kit", "--server", daemon.url]
                if let token { arguments += ["--token", token] }
                return try await run([try TestTools.builtProduct("martlet")] + arguments).status
            }

            // when, then
            #expect(try await integrate(nil) == 77)
            #expect(try await integrate("wrong") == 77)
            #expect(try await integrate(viewer) == 77)
            #expect(try await integrate(operating) == 0)
            let list = try await daemon.output("token", "list")
            expectContains(list, "hand")
            #expect(!list.contains(operating), "a token is shown once")
            #expect(try await daemon.output("token", "revoke", "hand").contains("revoked"))
            #expect(try await integrate(operating) == 77)
        }
    }

    @Test(.proves(.badInput, "A second daemon on the same state is refused"))
    func testThatASecondDaemonOnTheSameStateIsRefused() async throws {
        try await withDaemon { daemon in
            // when
            let second = try await daemon.martlet("serve", "--settings", daemon.settings)

            // then
            #expect(second.status == 69)
            expectContains(second.stderr, "another daemon uses the state directory \(daemon.state)")
            expectContains(second.stderr, "stop it first")
            #expect(try await daemon.get("/health").status == 200, "the first goes on")
        }
    }

    @Test func testThatItIsRestartedInTheMiddleOfAJob() async throws {
        // Its job reports its progress by files of the test's directory, which it would not see in a sandbox.
        try await withDaemon(settings: "isolation: none\n") { daemon in
            // given
            var files = Self.files
            let (go, runs) = (daemon.directory.path("go"), daemon.directory.path("runs"))
            files["Makefile"] =
                "all:\n\techo run >>\(runs); while [ ! -f \(go) ]; do sleep 0.05; done; echo x >kit.txt\n"
            _ = try await daemon.work.commit(files: files, message: "Begin")
            try await daemon.work.push(to: daemon.remote)
            await until("the job runs") { FileManager.default.fileExists(atPath: runs) }

            // when
            #expect(try await daemon.stop() == 0)
            try await daemon.start()
            try daemon.directory.write("go", "")

            // then
            expectContains(try await completion(of: 1, daemon), "\"state\":\"completed\"")
            expectFile(runs, "run\n")
        }
    }

    @Test func testThatPushesWhileItIsDownAreNotLost() async throws {
        try await withDaemon { daemon in
            // given
            _ = try await daemon.work.commit(files: Self.files, message: "Begin")
            try await daemon.work.push(to: daemon.remote)
            _ = try await completion(of: 1, daemon)
            try await daemon.stop()

            // when
            let commit = try await daemon.work.commit(files: ["new": ""], message: "Meanwhile")
            try await daemon.work.push(to: daemon.remote)
            #expect(try daemon.remote.spooled().count == 1)
            try await daemon.start()

            // then
            expectContains(try await completion(of: 2, daemon), commit.description)
        }
    }

    @Test(arguments: [
        ("bot.yml", "repository: /kit.git\n", 0, ""),
        ("bot.yml", "repository: /kit.git\nbranchs: [main]\n", 1, "bot.yml:2:1: error: "),
        (".martlet.yml", "configurations:\n  debug: { bulid: make }\n", 1, ".martlet.yml:2:"),
        ("martlet.yml", "listen: 127.0.0.1:8080\n", 0, ""),
        ("martlet.yml", "listen: nowhere\n", 1, "martlet.yml:1:"),
    ])
    func testThatLintSaysWhereAndEndsAccordingly(name: String, text: String, status: Int32, message: String)
        async throws
    {
        try await withTemporaryDirectory { directory in
            // given
            let folder = name == "bot.yml" ? "bots/" : ""
            try directory.write(folder + name, text)

            // when
            let result = try await run(
                [try TestTools.builtProduct("martlet"), "lint", folder + name], in: directory.path)

            // then
            #expect(result.status == status, "\(result.stdout)\(result.stderr)")
            if !message.isEmpty { expectContains(result.stdout, message) }
        }
    }

    @Test func testThatAPortInUseIsSaid() async throws {
        try await withDaemon { daemon in
            // given: another state, the same port
            try daemon.directory.write(
                "other/martlet.yml",
                "listen: 127.0.0.1:\(daemon.port)\nstate: \(daemon.directory.path("other/state"))\n")
            try daemon.directory.makeDirectory("other/bots")
            try daemon.directory.directory().setMode(0o700, ofDirectory: "other")

            // when
            let second = try await daemon.martlet("serve", "--settings", daemon.directory.path("other/martlet.yml"))

            // then
            #expect(second.status == 69)
            expectContains(second.stderr, "127.0.0.1:\(daemon.port) is in use by another program")
        }
    }
}

extension String {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}

extension GitRepository {
    /// Returns the events that the hook could not deliver yet.
    fileprivate func spooled() throws -> [String] {
        let directory = try Directory(opening: path)
        guard try directory.status("martlet-spool") != nil else { return [] }
        return try directory.entries("martlet-spool").map(\.name).filter { $0.hasSuffix(".json") }
    }
}
