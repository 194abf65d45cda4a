import Foundation
import Glibc
import Model
import TestSupport
import Testing

/// `cancel` and `rerun` by the users' commands, with the real daemon.
@Suite struct ControlTests {
    /// Returns a project whose check fails while the file `broken` exists, and waits while `wait` exists.
    private static func files(_ daemon: Daemon) -> [String: String] {
        let check = """
            check:
            \t@trap 'echo asked to end' TERM; echo checking; test ! -f \(daemon.directory.path("broken")) || exit 1; \\
            \twhile test -f \(daemon.directory.path("wait")); do sleep 0.02; done; \\
            \techo checked

            """
        return [
            "Makefile": "all:\n\t@echo made >kit.txt\n" + check,
            ".martlet.yml": "configurations:\n  debug:\n  other: { build: 'true', test: 'true' }\nanalyze: []\n",
            ".gitignore": "kit.txt\n",
        ]
    }

    private func push(_ daemon: Daemon) async throws {
        _ = try await daemon.work.commit(files: Self.files(daemon), message: "Begin")
        try await daemon.work.push(to: daemon.remote)
    }

    @Test func testThatAFailedConfigurationIsRunAgainAndBothAttemptsAreShown() async throws {
        try await withDaemon { daemon in
            // given
            try daemon.directory.write("broken", "")
            try await push(daemon)
            let red = try await daemon.martlet("integrate", "kit", "--wait")
            #expect(red.status == 1)
            let number = try await latest(daemon)
            // The page's address follows the number.
            expectContains(red.stdout, "/bots/kit/\(number)\n")
            try FileManager.default.removeItem(atPath: daemon.directory.path("broken"))

            // when
            let rerun = try await daemon.martlet("rerun", "kit#\(number)", "--failed", "--wait")

            // then: by the commands
            #expect(rerun.status == 0, "\(rerun.stdout)\(rerun.stderr)")
            expectContains(rerun.stdout, "kit#\(number) queued, run 2: main")
            expectContains(rerun.stdout, "kit#\(number) succeeded")
            let show = try await daemon.output("show", "kit#\(number)")
            expectContains(show, "debug (attempt 2 of 2)  succeeded")
            expectContains(show, "attempt 1  test-failures")
            expectContains(show, "\nother  succeeded")
            let first = try await daemon.output("show", "kit#\(number)", "--attempt", "1")
            expectContains(first, "debug (attempt 1 of 2)  test-failures")

            // by the interface
            let path = "/api/v1/bots/kit/integrations/\(number)"
            let json = try await daemon.get(path).body
            expectContains(json, #""reruns":[{"run":2,"requestedBy":"#)
            expectContains(json, #""failed":true,"tests":null,"triggers":false}]"#)
            expectContains(json, #""attempts":[{"attempt":1,"run":1,"state":"processed","verdict":"test-failures""#)
            expectContains(try await daemon.get(path + "?attempt=2").body, #""name":"debug","attempt":2"#)
            #expect(try await daemon.get(path + "?attempt=2").body.contains(#""name":"other""#) == false)
            #expect(try await daemon.get(path + "?attempt=x").status == 400)

            // and by the page
            let page = try await daemon.get("/bots/kit/\(number)").body
            expectContains(page, "ran the failed configurations again")
            expectContains(page, "href=\"/bots/kit/\(number)?attempt=1#configurations\"")
            #expect(try await daemon.get("/bots/kit/\(number)?attempt=1").body.contains("test failures"))
            expectContains(try await daemon.get("/api/v1/deliveries").body, #""event":"rerun""#)

            // A filter is not possible for a command without one
            let filtered = try await daemon.martlet("rerun", "kit#\(number)", "--tests", "Kit")
            #expect(filtered.status == 1)
            expectContains(filtered.stderr, "debug is not run again: the tests of a Make project take no filter")
            expectContains(filtered.stderr, "other is not run again: its recipe tests with a command of its own (true)")
            #expect(try await daemon.martlet("rerun", "kit#\(number)", "--failed").status == 1)
        }
    }

    @Test(.proves(.jobs, "A log followed by server-sent events, `martlet log --follow`"))
    func testThatALogIsFollowedAcrossARestart() async throws {
        try await withDaemon { daemon in
            // given: a check that runs, and a client that follows it
            try daemon.directory.write("wait", "")
            try await push(daemon)
            try await until("it checks") {
                // There is no log before the job begins.
                try await daemon.martlet("log", "kit", "--configuration", "debug").stdout.contains("checking")
            }
            let printed = try daemon.directory.write("printed", "")
            let script = "exec \"$0\" log kit#1 --configuration debug --follow >\"$1\""
            async let followed = run(
                ["sh", "-c", script, try TestTools.builtProduct("martlet"), printed],
                environment: ["PATH": "/usr/bin:/bin", "MARTLET_URL": daemon.socket])
            await until("it is followed") { (try? daemon.directory.text("printed").contains("checking")) ?? false }

            // when
            #expect(try await daemon.stop() == 0)
            try await daemon.start()
            try FileManager.default.removeItem(atPath: daemon.directory.path("wait"))

            // then
            let result = try await followed
            #expect(result.status == 0, "\(result.stderr)")
            let lines = try daemon.directory.text("printed").split(separator: "\n")
            #expect(lines.filter { $0.hasPrefix("check") } == ["checking", "checked"])
        }
    }

    @Test(
        .proves(.jobs, "Who waits for an end by `--wait` waits across the daemon's restart, as who follows a log does"))
    func testThatWhoWaitsForAnEndWaitsAcrossARestart() async throws {
        try await withDaemon { daemon in
            // given: a check that runs, and a client that waits for its end
            try daemon.directory.write("wait", "")
            try await push(daemon)
            let token = try await daemon.output("token", "create", "ada", "--role", "operator")
                .trimmingCharacters(in: .newlines)
            let printed = try daemon.directory.write("printed", "")
            let script = "exec \"$0\" integrate kit --wait --server \"$1\" --token \"$2\" >\"$3\""
            async let waiting = run(
                ["sh", "-c", script, try TestTools.builtProduct("martlet"), daemon.url, token, printed],
                environment: ["PATH": "/usr/bin:/bin"])
            await until("it waits") { (try? daemon.directory.text("printed").contains("kit#2 queued: ")) ?? false }

            // when: it asks while the daemon is down
            #expect(try await daemon.stop() == 0)
            try await hangUp(at: daemon.port)
            try await daemon.start()
            try FileManager.default.removeItem(atPath: daemon.directory.path("wait"))

            // then
            let result = try await waiting
            #expect(result.status == 0, "\(result.stderr)")
            expectContains(try daemon.directory.text("printed"), "kit#2 succeeded: ")
        }
    }

    /// Refuses connections at a port until a client has tried to connect there.
    private func hangUp(at port: Int) async throws {
        let socket = try LoopbackSocket(port: port)
        await until("somebody asks") { socket.hasCaller }
        socket.stop()
    }

    @Test(
        .proves(
            .intake,
            "`cancel` with grace, in every state: queued, preparing, before-triggers, running, after-triggers, uploading"
        ))
    func testThatTheGraceIsWhatThePersonSays() async throws {
        try await withDaemon { daemon in
            // given: a check that ignores the request to end
            try daemon.directory.write("wait", "")
            try await push(daemon)
            try await until("it checks") {
                // There is no log before the job begins.
                try await daemon.martlet("log", "kit", "--configuration", "debug").stdout.contains("checking")
            }

            // when
            let canceled = try await daemon.martlet("cancel", "kit#1", "--grace", "0.2")

            // then: the supervisor gets it in place of the usual ten seconds
            #expect(canceled.status == 0, "\(canceled.stderr)")
            let told = try await runExpectingSuccess(
                ["find", daemon.state + "/integrations", "-name", "cancel", "-exec", "cat", "{}", ";"])
            expectContains(told, #""grace":200"#)
            try await until("it ends") {
                try await daemon.get("/api/v1/bots/kit/integrations/1").body.contains("\"completed\"")
            }
            let json = try await daemon.get("/api/v1/bots/kit/integrations/1").body
            expectContains(json, #""verdict":"canceled","result":"canceled","skipped":false,"reason":"canceled by "#)
            #expect(try await daemon.martlet("cancel", "kit#1", "--grace", "601").status == 1)
        }
    }

    private func latest(_ daemon: Daemon) async throws -> Int {
        let json = try await daemon.get("/api/v1/bots/kit/integrations/latest").body
        let digits = json.split(separator: "\"number\":").dropFirst().first?.prefix { $0.isNumber }
        return try #require(digits.flatMap { Int($0) })
    }
}
