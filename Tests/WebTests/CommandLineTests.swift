import Basics
import Foundation
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// The command line as users run it: the program itself with a real daemon's API.
@Suite struct CommandLineTests {
    /// The output for sample content, on the Unix socket.
    @Suite struct GivenThreeIntegrations {
        private func withSample(_ body: @Sendable (WebFixture) async throws -> Void) async throws {
            try await withWeb { web in
                try await SampleContent(web: web).fill()
                try await body(web)
            }
        }

        @Test(.proves(.reports, "Counts with ± on the command line"))
        func testThatCountsHaveTheirChange() async throws {
            try await withSample { web in
                // when
                let list = try await martlet(["integrations", "kit"], web)
                let shown = try await martlet(["show", "kit#2"], web)
                // then
                expectEqualLines(
                    list.stdout,
                    """
                    INTEGRATION  BRANCH       COMMIT    RESULT         COUNTS                                    SUBJECT
                    kit#3        release/1.0  33333333  succeeded      12 tests                                  Say what 1.0 is
                    kit#2        main         22222222  warnings       12 tests, 0 failing (−1), 1 warning (−1)  Skip empty lines instead of trapping on them
                    kit#1        main         11111111  test-failures  12 tests, 1 failing, 2 warnings           Read the header before the body

                    """)
                expectContains(shown.stdout, "warnings  12 tests, 0 failing (−1), 1 warning (−1)\n")
                expectContains(shown.stdout, "\n  building   swift build --build-tests ")
                expectContains(shown.stdout, "\n  tests      12 tests")
            }
        }

        @Test func testThatIssuesHaveTheirStatusAndPlace() async throws {
            try await withSample { web in
                let all = try await martlet(["issues", "kit#2"], web)
                let resolved = try await martlet(["issues", "kit#2", "--status", "resolved"], web)
                let line =
                    "resolved: Sources/Kit/Writer.swift:12:44: analyzer-warning: remove the trailing space [debug, release]\n"
                expectContains(all.stdout, "unresolved: Sources/Kit/Parser.swift:27:9: warning: variable 'count'")
                expectContains(all.stdout, line)
                #expect(resolved.stdout == line)
            }
        }

        @Test func testThatFailingTestsAreListedAlone() async throws {
            try await withSample { web in
                let all = try await martlet(["tests", "kit#1"], web)
                let failing = try await martlet(["tests", "kit#1", "--failing"], web)
                #expect(all.stdout.split(separator: "\n").count == 25)
                #expect(failing.stdout.split(separator: "\n").count == 3)
                #expect(failing.stdout.hasPrefix("OUTCOME  CONFIGURATION  TEST "))
                for line in failing.stdout.split(separator: "\n").dropFirst() {
                    #expect(line.hasPrefix("failed  "))
                    expectContains(String(line), "KitTests.ParserTests/parsesAnEmptyLine()")
                }
            }
        }

        @Test func testThatTheLogIsPrintedWithItsColorsAlone() async throws {
            try await withSample { web in
                let log = try await martlet(
                    ["log", "kit#1", "--configuration", "debug", "--follow", "--color", "always"], web)
                expectContains(log.stdout, "Build complete! (11.02s)\n◇ Test run started.\n\u{1B}[32m✔\u{1B}[0m Test")
                #expect(log.status == 0)
            }
        }

        /// Row X3 of the threats: OSC 8, 0 and 52, DCS, C1, overwriting and bidirectional controls.
        @Test(.proves(.jobs, "A long log's terminal controls are seen also where a piece ends within one (X3)"))
        func testThatX3ALogLeavesTheTerminalAlone() async throws {
            try await withSample { web in
                // given
                let attack =
                    "\u{1B}]52;c;cm0gLXJm\u{07}\u{1B}]8;;http://evil\u{1B}\\x\u{1B}]0;t\u{07}\u{1B}Pq\u{9B}2J\u{9D}0;t\u{9C}"
                    + "shown\rover\r\nif \u{202E}admin\u{2066}\u{200F}\u{1B}[31mred\u{1B}[0m\u{8}\u{7F}\n"
                try web.directory.write("state/integrations/kit/1/debug/1/log", attack)
                for arguments in [[], ["--follow"]] {
                    // when
                    let log = try await martlet(
                        ["log", "kit#1", "--configuration", "debug", "--color", "always"] + arguments, web)
                    // then
                    #expect(
                        log.stdout
                            == "?]52;c;cm0gLXJm??]8;;http://evil?\\x?]0;t??Pq??2J??0;t??shown\nover\r\nif ???admin??????"
                            + "\u{1B}[31mred\u{1B}[0m??\n")
                }
            }
        }

        @Test func testThatALogIsFollowedToItsEnd() async throws {
            try await withWeb { web in
                // given
                let job = try await LogEventsTests.Running(web)
                job.print("first\n")
                async let followed = martlet(["log", "kit#1", "--configuration", "debug", "--follow"], web)
                // when
                job.print("second \u{E9}\n")
                job.print([0xFF, 0x0A])
                try job.finish()
                _ = try await web.store.apply(
                    .completed(.succeeded, triggerFailed: false), to: job.id.integration, at: WebFixture.now)
                // then
                let log = try await followed
                #expect(log.status == 0, "\(log.stderr)")
                #expect(log.stdout == "first\nsecond \u{E9}\n\u{FFFD}\n")
            }
        }

        @Test(
            .proves(
                .programs,
                "`martlet`: serve, doctor; lint, init, schema; bots, bot, webhook, integrate, integrations, show, log, issues, tests, artifacts, cancel, rerun; versions, fetch, yank; token, secret"
            ))
        func testThatEveryListingIsTheInterfacesJSONWhenAskedFor() async throws {
            try await withSample { web in
                for (command, path) in [
                    (["integrations", "kit"], "/api/v1/bots/kit/integrations?limit=20"),
                    (["show", "kit"], "/api/v1/bots/kit/integrations/latest"),
                    (["issues", "kit#1"], "/api/v1/bots/kit/integrations/1/issues"),
                    (["tests", "kit#1"], "/api/v1/bots/kit/integrations/1/tests"),
                    (["artifacts", "kit#3"], "/api/v1/bots/kit/integrations/3/artifacts"),
                    (["versions", "kit"], "/api/v1/products/kit/versions"), (["bots"], "/api/v1/bots"),
                ] {
                    let printed = try await martlet(command + ["--json"], web)
                    #expect(try await web.json(path) == printed.stdout, "\(command)")
                }
            }
        }

        @Test(
            .proves(
                .programs,
                "`martlet`: serve, doctor; lint, init, schema; bots, bot, webhook, integrate, integrations, show, log, issues, tests, artifacts, cancel, rerun; versions, fetch, yank; token, secret"
            ))
        func testThatAVersionIsFetchedAndNothingIsOverwritten() async throws {
            try await withSample { web in
                // when
                let output = try web.directory.makeDirectory("fetched")
                let versions = try await martlet(["versions", "kit"], web)
                let fetched = try await martlet(["fetch", "kit@~1.0", "--output", output], web)
                let again = try await martlet(["fetch", "kit@~1.0", "--output", output], web)
                // then
                expectEqualLines(
                    versions.stdout,
                    """
                    VERSION  PUBLISHED                 COMMIT        INTEGRATION  FILES
                    1.0.0    2026-03-01T12:00:00.000Z  333333333333  kit#3        2 files

                    """)
                #expect(fetched.status == 0)
                #expect(fetched.stdout.split(separator: "\n").count == 2)
                #expect(try web.directory.text("fetched/kit-source.tar.gz") == "source")
                #expect(again.status == 73)
                expectContains(again.stderr, "exists, and is not overwritten; remove it, or write --output DIRECTORY")
            }
        }
    }

    @Test func testThatAnIssueOfNoConfigurationNamesNone() async throws {
        try await withWeb { web in
            // given: a recipe with an error that belongs to no configuration
            try await SampleContent(web: web).fill()
            let id = try await web.store.queue(
                NewIntegration(
                    bot: SampleContent.kit, ref: RefName(branch: "main"), commit: SampleContent.commits[0], cause: .push
                ),
                at: WebFixture.now
            ).id
            _ = try await web.store.apply(.started, to: id, at: WebFixture.now)
            let finding = Finding(
                category: .error, message: "unknown key", rule: "martlet.recipe", path: ".martlet.yml", line: 3,
                column: 1)
            try await web.store.completeIssues(
                of: id,
                issues: [Issue(fingerprint: "f", status: .new, finding: finding, age: 1, configurations: [])],
                summary: Summary(), at: WebFixture.now)
            // when
            let result = try await martlet(["issues", "\(id)"], web)
            // then
            #expect(result.stdout == "new: .martlet.yml:3:1: error: unknown key\n    f\n")
        }
    }

    @Test(
        .proves(
            .badInput,
            "A repository without a push is not a failure: page, commands and API say that it is empty; one that had branches and lists none is a failure"
        ))
    func testThatARepositoryThatIsEmptyOrFailsIsSaid() async throws {
        try await withWeb { web in
            // given
            let bots = try ["blank", "gone"].map { name in
                BotSpecification(name: try #require(Name(name)), repository: "/srv/\(name).git")
            }
            try await web.store.register(bots, at: WebFixture.now)
            for request in try await web.store.repositoriesToScan() {
                if request.repository == "/srv/blank.git" {
                    _ = try await web.store.apply(
                        RefScan(
                            request: request, heads: [:], defaultBranch: nil, at: WebFixture.now, cause: .poll,
                            watchers: []))
                } else {
                    try await web.store.scanFailed(request, reason: "there is none", at: WebFixture.now)
                }
            }
            // when
            let list = try await martlet(["bots"], web)
            let blank = try await martlet(["bot", "blank"], web)
            let pages = try await [web.send("GET", "/"), web.send("GET", "/bots/blank"), web.send("GET", "/bots/gone")]
            // then
            expectEqualLines(
                list.stdout,
                """
                BOT    LATEST  BRANCH  RESULT                          COUNTS
                blank  –               the repository is empty
                gone   –               the repository needs attention
                blank: the repository is empty; push a commit to it
                gone: the repository needs attention: there is none

                """)
            expectEqualLines(
                blank.stdout, "blank  /srv/blank.git\nthe repository is empty; push a commit to it\n")
            expectContains(pages[0].text, "No results yet. The repository is empty; push a commit to it.")
            expectContains(pages[1].text, "No results yet: the repository is empty; push a commit to it.")
            #expect(!pages[2].text.contains("the repository is empty"))
            expectContains(try await web.json("/api/v1/bots/blank"), "\"lookError\":null,\"empty\":true")
            expectContains(try await web.json("/api/v1/bots/gone"), "\"lookError\":\"there is none\",\"empty\":false")
        }
    }

    @Test(.proves(.intake, "`martlet bot KIT`, page and API show a schedule's next moment"))
    func testThatABotSaysWhenItsScheduleQueuesNext() async throws {
        let schedule = "schedule: { cron: 30 2 * * 1-5, time-zone: Europe/Berlin, branches: main }\n"
        try await withWeb(bots: ["nightly": "repository: /srv/kit.git\n\(schedule)"]) { web in
            // when
            let shown = try await martlet(["bot", "nightly"], web)
            let page = try await web.send("GET", "/bots/nightly")
            // then: WebFixture.now is 2026-03-01, a Sunday
            expectContains(
                shown.stdout, "schedule: 30 2 * * 1-5 Europe/Berlin of main, next at 2026-03-02T01:30:00.000Z\n")
            expectContains(page.text, "30 2 * * 1-5 Europe/Berlin of main; next in about 14 h, at 2026-03-02 01:30 UTC")
            expectContains(
                try await web.json("/api/v1/bots/nightly"),
                #""schedule":"30 2 * * 1-5 Europe/Berlin of main","nextScheduled":"2026-03-02T01:30:00.000Z""#)
        }
    }

    @Test(
        .proves(
            .programs,
            "`martlet`: serve, doctor; lint, init, schema; bots, bot, webhook, integrate, integrations, show, log, issues, tests, artifacts, cancel, rerun; versions, fetch, yank; token, secret"
        ))
    func testThatTokensAreMadeListedAndRevoked() async throws {
        try await withWeb { web in
            // when
            let made = try await martlet(["token", "create", "laptop", "--role", "operator"], web)
            let token = made.stdout.trimmingCharacters(in: .newlines)
            let server = "http://127.0.0.1:\(web.port)"
            let refused = try await martlet(["token", "list", "--server", server, "--token", token], web)
            let revoked = try await martlet(["token", "revoke", "laptop"], web)
            let list = try await martlet(["token", "list"], web)
            let dead = try await martlet(["integrations", "--server", server, "--token", token], web)
            // then
            #expect(BearerToken(token) != nil)
            #expect(refused.status == 77)
            #expect(revoked.stdout == "laptop is revoked\n")
            expectContains(
                list.stdout, "laptop    operator  all   2026-03-01T12:00:00.000Z  revoked 2026-03-01T12:00:00.000Z\n")
            #expect(!list.stdout.contains(token))
            #expect(dead.status == 77)
        }
    }

    @Test(
        .proves(
            .programs,
            "`martlet`: serve, doctor; lint, init, schema; bots, bot, webhook, integrate, integrations, show, log, issues, tests, artifacts, cancel, rerun; versions, fetch, yank; token, secret"
        ))
    func testThatRefusalsHaveTheirExitStatus() async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            for (command, status, sentence) in [
                (["show", "kit#99"], 66, "There is no kit#99; `martlet integrations kit` lists what there is."),
                (["show", "nobody#1"], 66, "There is no nobody#1, and no other of nobody; `martlet bots` lists"),
                (
                    ["log", "kit#1", "--configuration", "none"], 66,
                    "kit#1 has no such job, trigger or attempt; `martlet show kit#1` lists"
                ),
                (["integrate", "nobody"], 66, "there is no bot nobody; `martlet bots` lists them"),
                (["cancel", "kit#1"], 1, "kit#1 is completed already: test-failures"),
                (["yank", "kit@9.9.9"], 66, "there is no published version 9.9.9 of kit"),
                (["yank", "kit"], 1, "kit names no version to yank; write PRODUCT@VERSION, such as kit@1.4.2"),
                (["webhook", "kit", "--forge", "other"], 1, "--forge other is unknown; write one of github,"),
                (
                    ["show", "kit#1", "--server", "/nowhere/martlet.socket"], 69,
                    "no daemon answers at /nowhere/martlet.socket"
                ),
                (["show", "../kit"], 64, "../kit"), (["init", "ftp://acme.example/kit"], 1, "ftp"),
            ] {
                let result = try await martlet(command, web)
                #expect(Int(result.status) == status, "\(command): \(result.stderr)")
                expectContains(result.stderr, sentence)
                #expect(result.stdout.isEmpty)
            }
        }
    }

    @Test(.proves(.settings, "`lint` reports file, line and column"))
    func testThatLintNamesFileLineAndColumn() async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.write("bots/kit.yml", "repository: /srv/kit.git\nbrnches: [main]\n")
            try directory.write("bots/app.yml", "repository: /srv/app.git\n")
            let program = try TestTools.builtProduct("martlet")
            // when
            let red = try await run([program, "lint", "bots/kit.yml"], in: directory.path)
            let green = try await run([program, "lint", "bots/app.yml"], in: directory.path)
            // then
            #expect(red.status == 1)
            expectContains(red.stdout, "bots/kit.yml:2:1: error: ")
            expectContains(red.stdout, "did you mean `branches`?")
            #expect(green.status == 0 && green.stdout.isEmpty)
        }
    }

    @Test func testThatASecretIsStoredForTheServiceAlone() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let settings = try directory.write(
                "martlet.yml", "state: \(directory.path("state"))\nsecrets: \(directory.path("secrets"))\n")
            // when
            let result = try await run(
                [try TestTools.builtProduct("martlet"), "secret", "set", "kit-webhook", "--settings", settings],
                input: "hush\n")
            // then
            #expect(result.status == 0, "\(result.stderr)")
            #expect(!result.stdout.contains("hush"))
            let attributes = try FileManager.default.attributesOfItem(atPath: directory.path("secrets/kit-webhook"))
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }
}

/// Runs the command on the fixture's Unix socket by default.
func martlet(_ arguments: [String], _ web: WebFixture) async throws -> ProgramResult {
    var environment = ProcessInfo.processInfo.environment
    environment["MARTLET_URL"] = web.socket
    environment["MARTLET_TOKEN"] = nil
    return try await run([try TestTools.builtProduct("martlet")] + arguments, environment: environment)
}
