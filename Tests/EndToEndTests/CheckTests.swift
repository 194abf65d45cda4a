import Foundation
import TestSupport
import Testing

/// `hooks/check` in a small project, with substitutes for slow programs that record their calls.
@Suite struct CheckTests {
    private static let format = "swift format lint --strict --parallel --recursive Package.swift Sources Tests"
    private static let build =
        "swift build --build-tests -debug-info-format none --explicit-target-dependency-import-check error"
    private static let test = "swift test --skip-build --disable-xctest"

    @Test(
        .proves(
            .firstSteps,
            "`hooks/check` installs packages, checks format and links, builds with warnings as errors, and runs all tests"
        ), .proves(.firstSteps, "`.ci/run` calls exactly `hooks/check`"), arguments: ["hooks/check", ".ci/run"])
    func testThatItInstallsChecksBuildsAndRunsEveryTest(program: String) async throws {
        try await withProject { project in
            // when
            let result = try await check(project, program)
            // then
            #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
            #expect(
                try calls(project) == [
                    "packages --build --test", Self.format, "threats", "features", "messages", Self.build,
                    Self.test + " width=6 scale=15",
                ])
            #expect(result.stdout.hasSuffix("\n3 passed, 0 failed\n"))
            expectContains(
                result.stdout, "== slowest\n    2.5 s  testThatItIsSlow()\n    0.5 s  testThatItIsQuick()\n")
        }
    }

    @Test(
        .proves(.firstSteps, "`hooks/check --quick` is fast enough for a pre-commit hook"),
        arguments: [["hooks/check", "--quick"], ["hooks/pre-commit"]])
    func testThatTheQuickOneInstallsNothingAndRunsTheQuickTests(command: [String]) async throws {
        try await withProject { project in
            // when
            let result = try await check(project, command[0], Array(command.dropFirst()))
            // then
            #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
            #expect(
                try calls(project) == [
                    Self.format, "threats", "features", "messages", Self.build,
                    Self.test + " --filter ArchitectureTests width=6 scale=15",
                ])
        }
    }

    /// The last build checks the sources by the architecture's rules, as long as the rules are the same.
    @Test(
        .proves(.firstSteps, "`hooks/check --quick` is fast enough for a pre-commit hook"),
        arguments: [
            ("Sources/Web/a.swift", false), ("Tests/ArchitectureTests/a.swift", true), ("Package.swift", true),
        ])
    func testThatTheQuickOneBuildsOnlyWhereTheRulesHaveChanged(file: String, builds: Bool) async throws {
        try await withProject { project in
            // given
            try project.write(".build/debug/martletPackageTests.xctest", "", mode: 0o755)
            try project.write(file, "// new\n")
            for (name, age) in [(".build/debug/martletPackageTests.xctest", 60.0), (file, 0)] {
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceReferenceDate: 2_000_000_000 - age)],
                    ofItemAtPath: project.path(name))
            }
            // when
            let result = try await check(project, "hooks/check", ["--quick"])
            // then
            #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
            #expect(try calls(project).contains(Self.build) == builds)
        }
    }

    /// A file can be committed before anything has looked at its format.
    @Test(.proves(.firstSteps, "`hooks/check --quick` is fast enough for a pre-commit hook"))
    func testThatTheQuickOneAlsoChecksTheFormatOfCommittedFiles() async throws {
        try await withProject { project in
            // given
            let git = ["git", "-c", "user.name=Ann", "-c", "user.email=ann@acme.example"]
            for arguments in [["add", "-A"], ["commit", "-q", "-m", "all"]] {
                try await runExpectingSuccess(git + arguments, in: project.path)
            }
            // when
            let result = try await check(project, "hooks/check", ["--quick"])
            // then
            #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
            #expect(try calls(project).filter { $0.hasPrefix("swift format") } == [Self.format])
        }
    }

    @Test(.proves(.firstSteps, "`hooks/test NAME` builds as the gate does and runs the named tests"))
    func testThatSomeTestsAreRunByTheirNames() async throws {
        try await withProject { project in
            // when
            let result = try await check(project, "hooks/test", ["DirectoryTests"])
            // then
            #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
            #expect(
                try calls(project) == [Self.build, Self.test + " --filter DirectoryTests width=6 scale=15"])
        }
    }

    /// The first failure ends the check: no later part is called, and the exit status is not 0.
    @Test(
        .proves(
            .firstSteps,
            "`hooks/check` installs packages, checks format and links, builds with warnings as errors, and runs all tests"
        ),
        .proves(.firstSteps, "Every threat in the list has a test that names it; a threat without one fails the gate"),
        arguments: [
            ("packages", 1), ("format", 2), ("threats", 3), ("features", 4), ("messages", 5), ("build", 6), ("test", 7),
        ])
    func testThatItEndsAtTheFirstFailure(failing: String, calls count: Int) async throws {
        try await withProject { project in
            let result = try await check(project, environment: ["FAILING": failing])
            #expect(result.status != 0)
            #expect(try calls(project).count == count)
            #expect(!result.stdout.contains("passed, 0 failed"))
        }
    }

    @Test(
        .proves(
            .firstSteps,
            "`hooks/check` installs packages, checks format and links, builds with warnings as errors, and runs all tests"
        ))
    func testThatARunWithoutATestIsNoSuccess() async throws {
        try await withProject { project in
            let result = try await check(project, environment: ["SAYS": "nothing"])
            #expect(result.status != 0)
            expectContains(result.stderr, "no test was run")
        }
    }

    @Test(
        .proves(
            .firstSteps,
            "`hooks/check` installs packages, checks format and links, builds with warnings as errors, and runs all tests"
        ),
        arguments: [
            ("README.md", "[here](docs/nowhere.md)", "README.md: broken link docs/nowhere.md"),
            ("docs/a.md", "[here](decisions/0002.md#part)", "docs/a.md: broken link decisions/0002.md#part"),
            (
                "docs/internals/decisions/0001.md", "see [b](../../b.md) and [c](../../c.md)",
                "docs/internals/decisions/0001.md: broken link ../../c.md"
            ),
        ])
    func testThatABrokenLinkIsRed(file: String, text: String, message: String) async throws {
        try await withProject { project in
            // given
            try project.write(file, text + "\n")
            try project.write(
                "docs/b.md", "[a part](a.md#part) [elsewhere](https://acme.example/nowhere) [above](#part)\n")
            // when
            let result = try await check(project)
            // then
            #expect(result.status != 0)
            expectContains(result.stdout, message)
            #expect(result.stdout.components(separatedBy: "broken link").count == 2, "just that one")
            #expect(try calls(project).contains(Self.build) == false)
        }
    }

    @Test(
        .proves(
            .firstSteps,
            "`hooks/check` installs packages, checks format and links, builds with warnings as errors, and runs all tests"
        ), arguments: ["hooks/post-receive", "deploy/quickstart", "deploy/triggers/a", "Tests/Acceptance/a", ".ci/run"])
    func testThatAScriptThatDoesNotParseIsRed(script: String) async throws {
        try await withProject { project in
            try project.write(script, "#!/usr/bin/env bash\nif true; then\n", mode: 0o755)
            let result = try await check(project)
            #expect(result.status != 0)
            expectContains(result.stderr, script)
            #expect(try calls(project).contains(Self.build) == false)
        }
    }

    @Test(
        .proves(
            .firstSteps,
            "`hooks/check` installs packages, checks format and links, builds with warnings as errors, and runs all tests"
        ))
    func testThatAnUnknownOptionIsRefused() async throws {
        try await withProject { project in
            let result = try await check(project, "hooks/check", ["--fast"])
            #expect(result.status == 64)
            #expect(result.stderr == "usage: hooks/check [--quick]\n")
            #expect(try calls(project) == [])
        }
    }

    // MARK: The project

    private func withProject(_ body: (TemporaryDirectory) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            for script in ["hooks/check", "hooks/test", "hooks/pre-commit", ".ci/run"] {
                let text = try String(contentsOfFile: Project.root + "/" + script, encoding: .utf8)
                try directory.write(script, text, mode: 0o755)
            }
            for script in [
                "hooks/post-receive", "deploy/quickstart", "deploy/install", "deploy/triggers/a", "Tests/Acceptance/a",
            ] {
                try directory.write(script, "#!/usr/bin/env bash\n", mode: 0o755)
            }
            for name in ["threats", "features", "messages"] {
                try directory.write(
                    "hooks/\(name)", "#!/bin/sh\necho \(name) >>\"$CALLS\"\n[ \"$FAILING\" != \(name) ]\n", mode: 0o755)
            }
            try directory.write(
                "deploy/packages",
                "#!/bin/sh\necho \"packages $*\" >>\"$CALLS\"\n[ \"$FAILING\" != packages ]\n", mode: 0o755)
            try directory.write(
                "tools/swift",
                """
                #!/bin/sh
                line="swift $*"
                [ "$1" != test ] || line="$line width=$SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH scale=$MARTLET_TEST_TIMEOUT_SCALE"
                [ "$1" != test ] || [ -z "$MARTLET_TEST_TIMES" ] ||
                    printf '1.5 testThatItIsSlow()\\n0.5 testThatItIsQuick()\\n1 testThatItIsSlow()\\n' >>"$MARTLET_TEST_TIMES"
                echo "$line" >>"$CALLS"
                [ "$1" != test ] || echo "${SAYS:-✔ Test run with 3 tests in 1 suite passed after 0.001 seconds.}"
                [ "$FAILING" != "$1" ]

                """, mode: 0o755)
            try directory.write("Package.swift", "// one\n")
            try directory.write("Sources/a.swift", "// two\n")
            try directory.write("README.md", "[a](docs/a.md)\n")
            try directory.write("docs/a.md", "[first](internals/decisions/0001.md)\n")
            try directory.write("docs/internals/decisions/0001.md", "[a](../../a.md)\n")
            // The pre-commit hook asks git where the project begins.
            try await runExpectingSuccess(["git", "init", "-q"], in: directory.path)
            try await body(directory)
        }
    }

    private func check(
        _ project: TemporaryDirectory, _ program: String = "hooks/check", _ arguments: [String] = [],
        environment: [String: String] = [:]
    ) async throws -> ProgramResult {
        try await run(
            [project.path(program)] + arguments, in: project.path,
            environment: ["PATH": project.path("tools") + ":/usr/bin:/bin", "CALLS": project.path("calls")]
                .merging(environment) { $1 })
    }

    /// Returns the calls of the programs, in order.
    private func calls(_ project: TemporaryDirectory) throws -> [String] {
        guard FileManager.default.fileExists(atPath: project.path("calls")) else { return [] }
        return try project.text("calls").split(separator: "\n").map(String.init)
    }
}
