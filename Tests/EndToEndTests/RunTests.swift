import Basics
import Foundation
import Model
import TestSupport
import Testing

/// `martlet run` as a user runs it: the program itself, real tools, no daemon.
@Suite struct RunTests {
    private static let make = [
        "Makefile": "all:\n\t@echo built > out\n\ncheck:\n\t@grep -q built out\n", ".gitignore": "out\n",
    ]

    @Suite struct GivenAMakeProject {
        @Test(
            .proves(
                .programs,
                "`martlet run` runs a working tree as it is on the disk with the daemon's engine, without a daemon, and leaves the tree alone"
            ))
        func testThatItRunsAndLeavesTheTreeAlone() async throws {
            try await withWorkingTree(RunTests.make) { fixture in
                // given
                let before = try fixture.inventory()
                // when
                let result = try await fixture.martlet()
                // then
                #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
                expectContains(result.stdout, "kit#1: files that are not committed, in \(fixture.tree)\n")
                expectContains(result.stdout, "\ndebug building\ndebug testing\n")
                expectContains(result.stdout, "\ndebug  succeeded\n  building   build  ")
                expectContains(result.stdout, "by exit status alone: the command writes no report")
                #expect(result.stdout.hasSuffix("\nkit#1 succeeded: no tests listed\n"))
                #expect(!result.stdout.contains("\u{1B}"))
                #expect(try fixture.inventory() == before)
            }
        }

        @Test(
            .proves(
                .programs,
                "`martlet run` shows progress in one line on a terminal, plain lines elsewhere, and findings and failing tests with file and line at once"
            ))
        func testThatAFailureIsRedWithItsLog() async throws {
            try await withWorkingTree(["Makefile": "all:\n\t@echo 'a.c:3:5: error: no such thing' >&2; exit 1\n"]) {
                fixture in
                // when
                let result = try await fixture.martlet()
                // then
                #expect(result.status == 1)
                // Once, although both the console and the result contain it.
                let lines = result.stdout.split(separator: "\n").filter { $0.contains("no such thing") }
                #expect(lines == ["a.c:3:5: error: no such thing [debug]"])
                #expect(result.stdout.hasSuffix("kit#1 build-errors: no tests listed, 1 error\n"))
                let line = try #require(result.stdout.split(separator: "\n").first { $0.hasPrefix("log of debug: ") })
                let log = String(line.dropFirst("log of debug: ".count))
                expectContains(
                    String(decoding: try WholeFile.read(log, limit: 1 << 20), as: UTF8.self), "no such thing")
            }
        }

        @Test(
            .proves(
                .programs,
                "`martlet run` keeps a warm workspace, and compares with the run before of the same selection"))
        func testThatTheNextRunIsComparedAndStaysWarm() async throws {
            try await withWorkingTree([
                "Makefile": "all: out\nout: a.c\n\t@echo 'a.c:1:1: warning: odd' >&2; echo x >> out\ncheck:\n\t@true\n",
                ".gitignore": "out\n", "a.c": "1\n",
            ]) { fixture in
                // given
                let first = try await fixture.martlet()
                // when
                let second = try await fixture.martlet()
                let built = try fixture.built("out")
                try fixture.write(["Makefile": "all: out\nout: a.c\n\t@echo x >> out\ncheck:\n\t@true\n", "a.c": "2\n"])
                let third = try await fixture.martlet()
                // then
                #expect((first.status, second.status, third.status) == (0, 0, 0))
                expectContains(first.stdout, "kit#1 warnings: no tests listed, 1 warning\n")
                // It is not compiled again, and its warnings still hold.
                #expect(built == "x\n")
                expectContains(second.stdout, "a.c:1:1: warning: odd [debug]\n")
                expectContains(second.stdout, "kit#2 warnings: no tests listed, 1 warning\n")
                expectContains(third.stdout, "kit#3 succeeded: no tests listed, 0 warnings (−1)\n")
                #expect(try fixture.built("out") == "x\nx\n")
            }
        }

        @Test(
            .proves(
                .programs,
                "`martlet run` has `--configuration`, `--again` and `--tests`, which says if a command takes no filter")
        )
        func testThatAFilterThatCannotBeTakenIsSaid() async throws {
            try await withWorkingTree(RunTests.make) { fixture in
                let result = try await fixture.martlet(["--tests", "Some"])
                #expect(result.status == 0)
                expectContains(
                    result.stdout, "\ndebug runs all of its tests: the tests of a Make project take no filter\n")
            }
        }

        @Test(.proves(.programs, "`martlet run --json` prints the result as the API does"))
        func testThatTheResultIsTheInterfacesJSON() async throws {
            try await withWorkingTree(["Makefile": "all:\n\t@echo 'a.c:3:5: error: no such thing' >&2; exit 1\n"]) {
                fixture in
                // when
                let result = try await fixture.martlet(["--json"])
                // then
                #expect(result.status == 1)
                let object = try JSONSerialization.jsonObject(with: Data(result.standardOutput)) as? [String: Any]
                let answer = try #require(object)
                #expect(answer["bot"] as? String == "kit")
                #expect(answer["state"] as? String == "completed")
                #expect(answer["result"] as? String == "build-errors")
                let configurations = try #require(answer["configurations"] as? [[String: Any]])
                #expect(configurations.map { $0["name"] as? String } == ["debug"])
                let issues = try #require(answer["issues"] as? [[String: Any]])
                #expect(issues.map { $0["path"] as? String } == ["a.c"])
                #expect(issues.map { $0["line"] as? Int } == [3])
                #expect((answer["tests"] as? [[String: Any]])?.isEmpty ?? false)
            }
        }

        @Test(
            .proves(
                .programs,
                "`martlet run` shows progress in one line on a terminal, plain lines elsewhere, and findings and failing tests with file and line at once"
            ))
        func testThatOnATerminalOneLineIsDrawnAnew() async throws {
            // Several checks, which are 0.1 s apart.
            let seconds = min(0.6 * TestLimits.scale, 3)
            try await withWorkingTree(["Makefile": "all:\n\t@sleep \(seconds)\n"]) { fixture in
                // when
                let live = try await fixture.martletOnTerminal()
                let plain = try await fixture.martletOnTerminal(environment: ["NO_COLOR": "1"])
                let dumb = try await fixture.martletOnTerminal(environment: ["TERM": "dumb"])
                // then
                #expect((live.status, plain.status, dumb.status) == (0, 0, 0), "\(live.stdout)")
                let line = live.stdout.firstRange(of: /\r\x1B\[Kdebug building [0-9]+ s\r\x1B\[K/)
                #expect(line != nil, "\(live.stdout)")
                #expect(!live.stdout.contains("\ndebug building\r\n"))
                for other in [plain, dumb] {
                    #expect(!other.stdout.contains("\u{1B}"))
                    expectContains(other.stdout, "\ndebug building\r\n")
                }
            }
        }

        @Test(.proves(.programs, "`martlet run` shows a step's own name if it has one"))
        func testThatAStepIsSaidByItsOwnName() async throws {
            // given: a step that several checks see, which are 0.1 s apart
            let seconds = min(0.6 * TestLimits.scale, 3)
            let recipe = """
                configurations:
                  debug:
                    steps:
                      - { name: generate, step: building, run: sleep \(seconds) }
                      - { name: compile, step: building, run: "true" }

                """
            try await withWorkingTree([".martlet.yml": recipe]) { fixture in
                // when
                let live = try await fixture.martletOnTerminal()
                let plain = try await fixture.martlet()
                // then
                #expect((live.status, plain.status) == (0, 0), "\(live.stdout)\(plain.stdout)")
                let line = live.stdout.firstRange(of: /\r\x1B\[Kdebug building: generate [0-9]+ s\r\x1B\[K/)
                #expect(line != nil, "\(live.stdout)")
                expectContains(plain.stdout, "\ndebug building: generate\ndebug building: compile\n")
            }
        }

        @Test func testThatATerminalIsToldOfTheTestsSoFar() async throws {
            // given: tests that continue for a while after two of them have ended
            let script = """
                printf '%s\n' "Test Suite 'KitTests' started at 2026-01-01" "Test Case 'KitTests.testAdds' started at 2026-01-01" \
                    "Test Case 'KitTests.testAdds' passed (0.1 seconds)" \
                    "Test Case 'KitTests.testFalls' started at 2026-01-01" \
                    "Test Case 'KitTests.testFalls' failed (0.1 seconds)"
                sleep \(TestLimits.passing(milliseconds: 2000) / 1000); exit 1

                """
            try await withWorkingTree([
                ".martlet.yml": "configurations: { debug: { build: 'true', test: sh ./tests } }\nanalyze: []\n",
                "tests": script,
            ]) { fixture in
                // when
                let live = try await fixture.martletOnTerminal()
                // then
                #expect(live.status == 1, "\(live.stdout)")
                #expect(live.stdout.contains(/debug testing \d+ s, 1 passed, 1 failing\r/), "\(live.stdout)")
            }
        }

        @Test(.sandbox) func testThatItsJobsAreInTheSandbox() async throws {
            try await withWorkingTree(["Makefile": "all:\n\t@echo in $$PWD; echo as $$(id -un); exit 1\n"]) { fixture in
                for (isolation, place) in [
                    ("sandbox", "in /martlet/kit\nas martlet\n"), ("none", "in \(fixture.caches)"),
                ] {
                    // when
                    let result = try await fixture.martlet(["--isolation", isolation])
                    // then
                    let line = try #require(
                        result.stdout.split(separator: "\n").first { $0.hasPrefix("log of debug: ") })
                    let log = String(line.dropFirst("log of debug: ".count))
                    expectContains(String(decoding: try WholeFile.read(log, limit: 1 << 20), as: UTF8.self), place)
                }
            }
        }

        @Test(
            .proves(
                .programs,
                "`martlet run` runs a working tree as it is on the disk with the daemon's engine, without a daemon, and leaves the tree alone"
            ))
        func testThatACacheWithinTheTreeIsNoPartOfIt() async throws {
            try await withWorkingTree(["Makefile": "all:\n\t@test ! -e cache && touch out\n", ".gitignore": "out\n"]) {
                fixture in
                let inside = ["XDG_CACHE_HOME": fixture.tree + "/cache"]
                // when
                let first = try await fixture.martlet(environment: inside)
                let second = try await fixture.martlet(environment: inside)
                // then
                #expect((first.status, second.status) == (0, 0), "\(first.stdout)\(second.stdout)")
            }
        }

        @Test(.proves(.programs, "`martlet run` bounds its cache, and one run at a time works on a tree"))
        func testThatOldRunsAreRemoved() async throws {
            try await withWorkingTree(RunTests.make) { fixture in
                // when
                for _ in 1...12 { #expect(try await fixture.martlet().status == 0) }
                // then
                let caches = try Directory(opening: fixture.caches)
                let own = try #require(try caches.entries().first).name
                let runs = try caches.entries("\(own)/integrations/kit").compactMap { Int($0.name) }.sorted()
                #expect(runs == Array(3...12))
                expectContains(try await fixture.martlet().stdout, "kit#13 succeeded")
            }
        }

        /// Numbers begin again, and the files of the earlier ones are gone.
        @Test func testThatADamagedDatabaseIsThrownAwayWithWhatItToldOf() async throws {
            try await withWorkingTree(RunTests.make) { fixture in
                // given
                for _ in 1...2 { #expect(try await fixture.martlet().status == 0) }
                let caches = try Directory(opening: fixture.caches)
                let own = try #require(try caches.entries().first).name
                try caches.write("\(own)/martlet.sqlite", bytes: Array("no database".utf8))
                try caches.remove("\(own)/martlet.sqlite-wal")
                // when
                let result = try await fixture.martlet()
                // then
                #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
                expectContains(result.stdout, "kit#1 succeeded")
                #expect(try caches.entries("\(own)/integrations/kit").map(\.name) == ["1"])
            }
        }

        @Test(.proves(.programs, "`martlet run` bounds its cache, and one run at a time works on a tree"))
        func testThatTheCacheOfADirectoryThatIsGoneIsRemoved() async throws {
            try await withWorkingTree(RunTests.make) { fixture in
                // given
                _ = try await fixture.martlet()
                try fixture.directory.write("other/Makefile", "all:\n")
                _ = try await fixture.martlet([fixture.directory.path("other")])
                #expect(try Directory(opening: fixture.caches).entries().count == 2)
                // when
                try fixture.directory.directory().remove("other")
                _ = try await fixture.martlet()
                // then
                let left = try Directory(opening: fixture.caches).entries().map(\.name)
                #expect(left.count == 1 && left[0].hasPrefix("kit-"))
            }
        }
    }

    @Suite(
        .proves(
            .programs,
            "`martlet run` has `--configuration`, `--again` and `--tests`, which says if a command takes no filter"))
    struct GivenSeveralConfigurations {
        private static let files = [
            ".martlet.yml": """
            configurations:
              quick: { build: "true", test: "echo quick" }
              slow: { build: "true", test: "exit 3" }

            """
        ]

        @Test func testThatOneIsChosenAndChosenAgain() async throws {
            try await withWorkingTree(Self.files) { fixture in
                // when
                let all = try await fixture.martlet()
                let one = try await fixture.martlet(["--configuration", "quick"])
                let again = try await fixture.martlet(["--again"])
                let unknown = try await fixture.martlet(["--configuration", "fast"])
                let afterwards = try await fixture.martlet(["--again"])
                // then
                #expect((all.status, one.status, again.status) == (1, 0, 0))
                expectContains(all.stdout, "\nslow  test-failures\n")
                #expect(!one.stdout.contains("slow") && !again.stdout.contains("slow"))
                // It is compared with nothing, because another selection ran before.
                #expect(one.stdout.hasSuffix("kit#2 succeeded: no tests listed\n"))
                #expect(unknown.status == 64)
                expectContains(
                    unknown.stderr, "there is no configuration fast in \(fixture.tree); there is quick, slow")
                #expect(afterwards.status == 0)
            }
        }

        @Test func testThatAMistypedNameLeavesTheComparison() async throws {
            try await withWorkingTree(["Makefile": "all:\n\t@echo 'a.c:1:1: warning: odd' >&2\ncheck:\n\t@true\n"]) {
                fixture in
                // given
                #expect(try await fixture.martlet().status == 0)
                // when
                let unknown = try await fixture.martlet(["--configuration", "fast"])
                let afterwards = try await fixture.martlet(["--json"])
                // then
                #expect((unknown.status, afterwards.status) == (64, 0))
                expectContains(afterwards.stdout, #""status":"unresolved""#)
                #expect(!afterwards.stdout.contains(#""status":"new""#))
            }
        }

        @Test func testThatWhatCannotBeDoneIsSaid() async throws {
            try await withWorkingTree(Self.files) { fixture in
                for (arguments, status, sentence) in [
                    (["--again"], 66, "no run is recorded in \(fixture.tree)"),
                    (["--again", "--configuration", "quick"], 64, "--again repeats the last selection"),
                    (["--configuration", "No"], 64, "--configuration No cannot be a configuration's name"),
                    (
                        ["--configuration", "nightly"], 64,
                        "there is no configuration nightly in \(fixture.tree); there is"
                    ),
                    ([fixture.tree + "/none"], 66, "there is no such directory"),
                ] {
                    let result = try await fixture.martlet(arguments)
                    #expect(Int(result.status) == status, "\(arguments): \(result.stdout)\(result.stderr)")
                    expectContains(result.stderr, sentence)
                    #expect(result.stdout.isEmpty)
                }
            }
        }
    }

    @Test(
        .proves(
            .programs,
            "`martlet run` uses the tree's recipe, reports an error's file and line, and says what to write if no project is recognized"
        ))
    func testThatABrokenRecipeSaysWhere() async throws {
        try await withWorkingTree([".martlet.yml": "configurations:\n  debug: { bild: make }\n"]) { fixture in
            let result = try await fixture.martlet()
            #expect(result.status == 1)
            expectContains(result.stdout, ".martlet.yml:2:12: error: ")
            expectContains(result.stdout, "did you mean `build`?")
            expectContains(result.stdout, "kit#1 build-errors: ")
        }
    }

    /// The message does not mention a bot file, because the user did not write one.
    @Test(.proves(.programs, "In `martlet run` a step that asks for a secret gets none, and says what to do"))
    func testThatAStepThatAsksForASecretSaysWhatToDo() async throws {
        let recipe = """
            configurations:
              debug: { build: "true", test: "true" }
              deploy: { steps: [{ name: try, step: testing, run: "true", secrets: [registry-token] }] }
            analyze: []

            """
        try await withWorkingTree([".martlet.yml": recipe]) { fixture in
            // when
            let all = try await fixture.martlet()
            let chosen = try await fixture.martlet(["--configuration", "debug"])

            // then
            #expect((all.status, chosen.status) == (1, 0), "\(all.stdout)\(chosen.stdout)")
            expectContains(
                all.stdout,
                "the step try asks for the secret registry-token, which it does not get: `martlet run` gives no secrets"
            )
            expectContains(all.stdout, "or choose configurations that ask for none with --configuration")
            #expect(!all.stdout.contains("bot's owner"))
            #expect(!all.stdout.contains("log of deploy"), "nothing was begun")
        }
    }

    @Test(
        .proves(
            .programs,
            "`martlet run` uses the tree's recipe, reports an error's file and line, and says what to write if no project is recognized"
        ))
    func testThatNoProjectSaysWhatToWrite() async throws {
        try await withWorkingTree(["README": "kit\n"]) { fixture in
            let result = try await fixture.martlet()
            #expect(result.status == 1)
            expectContains(
                result.stdout, "error: nothing says how to build this repository: none of Package.swift, ")
        }
    }

    @Test(
        .proves(
            .programs,
            "`martlet run` runs a working tree as it is on the disk with the daemon's engine, without a daemon, and leaves the tree alone"
        ))
    func testThatUncommittedChangesOfARepositoryAreRun() async throws {
        try await withWorkingTree([:]) { fixture in
            // given
            let repository = try await GitRepository.make(at: fixture.tree)
            let head = try await repository.commit(
                files: ["Makefile": "all:\n\t@git describe --always\n", "sub/a": "1"], message: "First")
            let clean = try await fixture.martlet()
            // when
            try fixture.write(["Makefile": "all:\n\t@exit 7\n"])
            let changed = try await fixture.martlet(in: fixture.tree + "/sub")
            // then
            #expect((clean.status, changed.status) == (0, 1))
            expectContains(clean.stdout, "kit#1: main \(head.abbreviated), in \(fixture.tree)\n")
            expectContains(
                changed.stdout,
                "kit#2: main \(head.abbreviated) and changes that are not committed, in \(fixture.tree)\n")
            #expect(try await repository.git("status", "--porcelain") == " M Makefile")
        }
    }
}
