import Foundation
import TestSupport
import Testing

@testable import Model

/// The usual commands of shell programs, run with substitutes for bats and shellcheck.
@Suite struct ShellScriptTests {
    /// Appends the program's arguments to the file `calls` of the tree.
    private static let note = #"echo "$*" >>calls"#

    @Test(
        .proves(.steps, "The new kinds by their real tools: a sample of each is green and red with its number of tests")
    )
    func testThatBatsNeedsNoReport() async throws {
        try await withTemporaryDirectory { directory in
            // given: bats exits before its report is written.
            let script = try UsualScript(["test/kit.bats": ""], in: directory)
            try script.addProgram("bats", "\(Self.note)\nprintf '1..1\\nok 1 adds\\n'")
            // when
            let result = try await script.run(ProjectProfile.shell.test, flags: ["--jobs", "2"])
            // then
            #expect(result.status == 0, "\(result.stdout)")
            #expect(script.text("calls") == "--tap --jobs 2 test\n")
        }
    }

    @Test(
        .proves(
            .steps,
            "Tests for bats in directories of the usual ones are found and run, fixtures and copies of bats are not"),
        arguments: [
            (["test/unit/kit.bats", "test/system/kit.bats"], "--tap test/system test/unit"),
            (["test/a b/kit.bats"], "--tap test/a b"),
            (["test/kit.bats", "test/system/kit.bats"], "--tap test test/system"),
            (["kit.bats", "test/smoke.bats", "t/a/b/kit.bats"], "--tap t/a/b test kit.bats"),
            (["test/unit/kit.bats", "test/fixtures/bad.bats", "test/unit/bats-core/test/a.bats"], "--tap test/unit"),
            (["test/unit/kit.bats", "test/bats/bin/bats", "test/bats/test/a.bats"], "--tap test/unit"),
            (["test/unit/kit.bats", "test/unit/assert/load.bash", "test/unit/assert/test/a.bats"], "--tap test/unit"),
        ])
    func testThatBatsIsLookedForInDirectoriesOfTests(_ files: [String], _ call: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(Dictionary(uniqueKeysWithValues: files.map { ($0, "") }), in: directory)
            try script.addProgram("bats", Self.note)
            // when
            let result = try await script.run(ProjectProfile.shell.test)
            // then
            #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
            #expect(script.text("calls") == call + "\n")
        }
    }

    @Test(
        .proves(
            .steps,
            "Tests for bats in directories of the usual ones are found and run, fixtures and copies of bats are not"),
        arguments: ["-r", "--recursive"])
    func testThatBatsRunsNoFileTwiceWhereItLooksIntoDirectories(flag: String)
        async throws
    {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(
                ["test/kit.bats": "", "test/unit/kit.bats": "", "t/a/kit.bats": "", "t/a/b/kit.bats": ""], in: directory
            )
            try script.addProgram("bats", Self.note)
            // when
            let result = try await script.run(ProjectProfile.shell.test, flags: [flag])
            // then
            #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
            #expect(script.text("calls") == "--tap \(flag) t/a test\n")
        }
    }

    @Test(
        .proves(
            .steps,
            "Tests for bats in directories of the usual ones are found and run, fixtures and copies of bats are not"))
    func testThatDirectoriesThatBatsLeavesOutAreNamed() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(
                [
                    "test/kit.bats": "", "test/fixtures/bad.bats": "", "test/data/kit.txt": "",
                    "test/unit/assert/load.bash": "", "test/unit/assert/test/a.bats": "",
                ], in: directory)
            try script.addProgram("bats", Self.note)
            // when
            let result = try await script.run(ProjectProfile.shell.test)
            // then
            #expect(script.text("calls") == "--tap test\n")
            let lines = result.stdout.split(separator: "\n").filter { $0.hasPrefix("left out: ") }
            let names = lines.map { $0.split(separator: ":")[1].dropFirst() }
            #expect(names == ["test/fixtures", "test/unit/assert"])
        }
    }

    /// Makes a git checkout with these files, and a shellcheck that prints its arguments.
    private func shellProject(_ files: [String: String], in directory: TemporaryDirectory) async throws -> UsualScript {
        let script = try UsualScript(files, in: directory)
        for arguments in [["git", "init", "-q"], ["git", "add", "."]] {
            let result = try await run(arguments, in: directory.path("tree"))
            #expect(result.status == 0, "\(result.stderr)")
        }
        try script.addProgram("shellcheck", #"echo "$*"; exit 1"#)
        return script
    }

    private static let shellcheck = ProjectProfile.shell.analyses.first { $0.name == "shellcheck" }?.command

    @Test func testThatNamesOfScriptsAreNoOptionsOfShellcheck() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try await shellProject(
                ["--quiet": "#!/bin/sh\n", "a.sh": "#!/bin/sh\n", "notes": "none\n"], in: directory)
            // when
            let result = try await script.run(Self.shellcheck)
            // then
            #expect(result.status == 0, "\(result.stderr)")
            #expect(script.text(".martlet/analyze/shellcheck-1.json") == "--format json1 ./--quiet ./a.sh\n")
        }
    }

    @Test func testThatEachBatchOfShellcheckHasAReportOfItsOwn() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try await shellProject(["a.sh": "#!/bin/sh\n", "b.sh": "#!/bin/sh\n"], in: directory)
            let real = try #require(TestTools.find("xargs"))
            try script.addProgram("xargs", "exec '\(real)' -n 1 \"$@\"")
            try directory.write("tree/.martlet/analyze/shellcheck-3.json", "of the last run")
            // when
            let result = try await script.run(Self.shellcheck)
            // then
            #expect(result.status == 0, "\(result.stderr)")
            #expect(script.text(".martlet/analyze/shellcheck-1.json") == "--format json1 ./a.sh\n")
            #expect(script.text(".martlet/analyze/shellcheck-2.json") == "--format json1 ./b.sh\n")
            #expect(script.text(".martlet/analyze/shellcheck-3.json") == nil)
            #expect(Self.shellcheck?.report == [".martlet/analyze/shellcheck*.json"])
        }
    }

    @Test func testThatAProjectWithoutScriptsHasNoFindings() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try await shellProject(["notes": "none\n"], in: directory)
            // when
            let result = try await script.run(Self.shellcheck)
            // then
            #expect(result.status == 0, "\(result.stderr)")
            #expect(script.text(".martlet/analyze/shellcheck.json") == "{\"comments\": []}\n")
        }
    }

    /// xargs exits with 123 both if shellcheck has findings and if it crashes on a file.
    @Test(
        .proves(
            .steps, "A shellcheck that fails is no clean analysis; a test file of Perl may have a blank in its name"),
        arguments: ["exit 2", "kill -SEGV $$"])
    func testThatAShellcheckThatFailsIsNoCleanAnalysis(_ end: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try await shellProject(["a.sh": "#!/bin/sh\n"], in: directory)
            try script.addProgram("shellcheck", end)
            // when
            let result = try await script.run(Self.shellcheck)
            // then
            #expect(result.status != 0)
            expectContains(result.stdout, "martlet: no report: shellcheck did not check every file")
        }
    }
}
