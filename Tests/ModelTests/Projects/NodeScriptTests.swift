import TestSupport
import Testing

@testable import Model

/// The usual commands of npm packages, run with the real npm and node if they are installed.
@Suite(.enabled(if: TestTools.find("npm") != nil, "npm is not here")) struct NodeScriptTests {
    private static let passing = "require('node:test')('a', () => {})\n"
    private static let failing = "require('node:test')('a', () => { throw new Error('no') })\n"

    private func package(_ test: String) -> String {
        #"{"name": "kit", "version": "1.0.0", "scripts": {"test": "\#(test)"}}"#
    }

    @Test(arguments: [
        "node --test", "node --test --test-reporter=spec", "node --test --test-reporter=tap | tee tap.log",
        "node --test --test-reporter=tap --test-reporter-destination=tap.log", "node --test --test-reporter tap; true",
        "node --test --test-reporter=spec --test-reporter-destination=stdout --test-reporter=tap --test-reporter-destination=tap.log",
        "npm run unit", "node kit.test.js",
    ])
    func testThatAReportIsWrittenBesideTheReportersOfTheScript(_ test: String) async throws {
        for (source, word) in [(Self.passing, "<testcase"), (Self.failing, "<failure")] {
            try await withTemporaryDirectory { directory in
                // given
                let package = package(test).replacing("}}", with: #", "unit": "node --test --test-reporter=dot"}}"#)
                let script = try UsualScript(["package.json": package, "kit.test.js": source], in: directory)
                // when
                let result = try await script.run(ProjectProfile.npm.test)
                // then
                expectContains(
                    script.text(".martlet/test/node.xml") ?? "no report: \(result.stdout)\(result.stderr)", word)
            }
        }
    }

    @Test func testThatARunnerThatIsNotNodesIsJudgedByItsStatus() async throws {
        for (test, status) in [("true", 0), ("exit 3", 3)] as [(String, Int32)] {
            try await withTemporaryDirectory { directory in
                let script = try UsualScript(["package.json": package(test)], in: directory)
                // when
                let result = try await script.run(ProjectProfile.npm.test)
                // then
                #expect(result.status == status)
            }
        }
    }

    @Test func testThatARunOfNodesTestsWithoutAReportIsRed() async throws {
        try await withTemporaryDirectory { directory in
            // given: the tests exit with 0 before they could write a report.
            let script = try UsualScript(
                ["package.json": package("NODE_OPTIONS= node --test"), "kit.test.js": Self.passing], in: directory)
            // when
            let result = try await script.run(ProjectProfile.npm.test)
            // then
            #expect(result.status == 1)
            expectContains(
                result.stdout, "martlet: no report: the tests ended with 0 and wrote no .martlet/test/node.xml\n")
        }
    }

    @Test(
        .proves(
            .reports,
            "A usual command whose test process ended with 0 before its end is red, also before its first test; a script of npm that runs no test is red"
        ))
    func testThatAScriptThatRunsNoTestIsRed() async throws {
        try await withTemporaryDirectory { directory in
            // given: a file with a name that node does not look for
            let script = try UsualScript(
                ["package.json": package("node --test"), "kit.tests.js": Self.failing], in: directory)
            // when
            let result = try await script.run(ProjectProfile.npm.test)
            // then
            #expect(result.status == 1)
            expectContains(
                result.stdout,
                "martlet: no report: the script \"test\" of package.json ended with 0 and ran no test\n")
        }
    }

    @Test(arguments: [
        // The behavior of npm 10 when the registry became unreachable.
        "echo 'npm error Exit handler never called!' >&2; exit 0", "exit 0", "mkdir -p node_modules/left; exit 0",
        #"mkdir -p node_modules/left node_modules/right; echo '{"packages":{"node_modules/deep":{}}}' >node_modules/.package-lock.json"#,
    ])
    func testThatDependenciesThatAreNotThereAreNotResolved(_ npm: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(
                ["package.json": #"{"dependencies": {"left": "1"}, "devDependencies": {"right": "1"}}"#], in: directory)
            try script.addProgram("npm", #"[ "$1" != config ] || exit 0"# + "\n" + npm)
            for _ in 0..<2 {
                // when
                let result = try await script.run(ProjectProfile.npm.resolve)
                // then
                #expect(result.status == 1, "\(result.stdout)\(result.stderr)")
                #expect(script.text(".martlet/resolved") == nil)
                expectContains(result.stdout, "ended with 0")
            }
        }
    }

    @Test func testThatDependenciesThatAreThereAreResolvedOnce() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(
                [
                    "package.json":
                        #"{"dependencies": {"left": "1", "may": "1"}, "devDependencies": {"right": "1"}, "optionalDependencies": {"may": "1"}}"#
                ], in: directory)
            try script.addProgram("npm", #"if [ "$1" = config ]; then echo dev; else mkdir -p node_modules/left; fi"#)
            // when
            let first = try await script.run(ProjectProfile.npm.resolve)
            let second = try await script.run(ProjectProfile.npm.resolve)
            // then
            #expect(first.status == 0, "\(first.stdout)\(first.stderr)")
            expectContains(second.stdout, "unchanged since the dependencies were resolved last")
        }
    }

    @Test func testThatAFailureOfNpmIsTheStepsOwn() async throws {
        try await withTemporaryDirectory { directory in
            let script = try UsualScript(["package.json": "{}"], in: directory)
            try script.addProgram("npm", "echo gone; exit 7")
            #expect(try await script.run(ProjectProfile.npm.resolve).status == 7)
        }
    }

    @Test func testThatAPackageInADirectoryReportsInTheRoot() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(
                ["client/package.json": package("node --test"), "client/kit.test.js": Self.passing], in: directory)
            for _ in 0..<2 {
                // when
                let result = try await script.run(ProjectProfile.npm.test, in: "client")
                // then
                #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
                expectContains(script.text(".martlet/test/node.xml") ?? "", "<testcase")
            }
        }
    }

    @Test(arguments: [
        ("cd sub && node --test", true), ("npm run unit --workspaces", false), ("npm test --workspaces", false),
    ])
    func testThatTestsOfAnotherDirectoryRunAndReportInTheRoot(_ test: String, _ isReported: Bool) async throws {
        for (source, isGreen) in [(Self.passing, true), (Self.failing, false)] {
            try await withTemporaryDirectory { directory in
                // given
                let root = package(test).replacing("}}", with: #"}, "workspaces": ["sub"]}"#)
                let sub = package("node --test").replacing("kit", with: "sub").replacing(
                    "}}", with: #", "unit": "node --test"}}"#)
                let script = try UsualScript(
                    ["package.json": root, "sub/package.json": sub, "sub/kit.test.js": source], in: directory)
                // when
                let result = try await script.run(ProjectProfile.npm.test)
                // then
                #expect((result.status == 0) == isGreen, "\(result.stdout)\(result.stderr)")
                #expect((script.text(".martlet/test/node.xml") != nil) == isReported)
                #expect(!result.stderr.contains("ENOENT"), "\(result.stderr)")
            }
        }
    }

    @Test func testThatTheRootsPathMayHaveABlank() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(
                ["my kit/package.json": package("node --test"), "my kit/kit.test.js": Self.passing], in: directory)
            try directory.makeDirectory("tree/my kit/.martlet/test")
            let text = try #require(ProjectProfile.npm.test).text
            // when
            let result = try await run(["/bin/sh", "-c", text, "test"], in: directory.path("tree/my kit"))
            // then
            #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
            expectContains(script.text("my kit/.martlet/test/node.xml") ?? "", "<testcase")
        }
    }
}
