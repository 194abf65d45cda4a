import Model
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs

/// Messages of the usual commands' scripts to the service: a missing program, and that there is no test.
@Suite struct MissingProgramTests {
    typealias Played = AttemptProcessorTests.Played

    private static func script(_ type: ProjectType) -> [String] {
        ["/bin/sh", "-c", type.profile.build?.text ?? "", "build"]
    }

    private static let missingCargo = "martlet: missing: cargo\nPATH is /usr/bin\n"

    @Test(
        .proves(.steps, "A program that is missing is our fault, with what to install"),
        arguments: [
            (Played(step: .building, arguments: ["swift", "build"], exit: 127), "install a Swift toolchain"),
            (Played(step: .building, arguments: ["make"], exit: 127), "(Debian: apt-get install make)"),
            (
                Played(step: .building, arguments: script(.cargo), output: missingCargo, exit: 127),
                "(Debian: apt-get install cargo)"
            ),
            (
                Played(step: .testing, arguments: script(.cargo), output: missingCargo, exit: 127),
                "(Debian: apt-get install cargo)"
            ),
            (
                Played(step: .building, name: "resolve", arguments: script(.cargo), output: missingCargo, exit: 127),
                "sandbox: { read-only: [DIRECTORY] }"
            ),
        ])
    func testThatItIsOurFaultAndSaysWhatToInstall(_ played: Played, _ advice: String) async throws {
        // when
        let results = try await AttemptProcessorTests().results(of: [played])
        // then
        #expect(results.verdict == .internalError)
        #expect(results.findings.isEmpty)
        expectContains(results.reason ?? "", "is not where jobs look for programs")
        expectContains(results.reason ?? "", advice)
    }

    @Test(
        .proves(.steps, "A program that is missing is our fault, with what to install"),
        arguments: [
            // The recipe's own command, another status, other words.
            Played(
                step: .building, arguments: ShellCommand.arguments(for: "exit 127"), output: missingCargo, exit: 127),
            Played(step: .building, arguments: script(.cargo), output: missingCargo, exit: 1),
            Played(step: .building, arguments: script(.cargo), output: "sh: cargo: not found\n", exit: 127),
        ])
    func testThatNothingElseIsTakenForIt(_ played: Played) async throws {
        #expect(try await AttemptProcessorTests().results(of: [played]).verdict == .buildErrors)
    }

    @Test func testThatAnAnalyzerThatIsNotHereIsSaidAndIsNoFinding() async throws {
        // when
        let results = try await AttemptProcessorTests().results(of: [
            Played(
                step: .analyzing, name: "clippy", arguments: Self.script(.cargo),
                output: "martlet: missing: cargo-clippy\n", exit: 127), Played(step: .building),
        ])
        // then
        #expect(results.verdict == .succeeded)
        #expect(results.analysis == "no analyzer: install rust-clippy")
        expectContains(results.notes.joined(), "not analyzed by clippy: cargo-clippy is not where jobs look")
    }

    /// Each missing tool is named once, with its package. A tool that ran is not named.
    @Test(.proves(.reports, "Where no usual analyzer is installed, what to install"))
    func testThatTheAnalysisNamesWhatToInstall() async throws {
        // given
        func missing(_ step: String, _ program: String) -> Played {
            Played(
                step: .analyzing, name: step, arguments: Self.script(.cmake), output: "martlet: missing: \(program)\n",
                exit: 127)
        }
        let both = [missing("clang-tidy", "clang-tidy"), missing("cppcheck", "cppcheck"), missing("again", "cppcheck")]
        // when
        let results = try await AttemptProcessorTests().results(of: both + [Played(step: .building)])
        let other = try await AttemptProcessorTests().results(
            of: both + [Played(step: .analyzing, name: "lint"), Played(step: .building)])
        // then
        #expect(results.analysis == "no analyzer: install clang-tidy, cppcheck")
        #expect(other.analysis == "clean (lint)")
    }

    @Test func testThatNoTestsAreSaidWithTheirReason() async throws {
        // when
        let results = try await AttemptProcessorTests().results(of: [
            Played(
                step: .testing, arguments: Self.script(.npm),
                output: "martlet: no tests: package.json has no script \"test\"\n", asksReport: true)
        ])
        // then
        #expect(results.verdict == .warnings)
        #expect(results.tested == "skipped: no tests (package.json has no script \"test\")")
    }

    @Test func testThatTestsThatWereThereBeforeAreMissed() async throws {
        // when
        let results = try await AttemptProcessorTests().results(
            of: [
                Played(
                    step: .testing, arguments: Self.script(.npm), output: "martlet: no tests: none\n", asksReport: true)
            ], previousTests: 3)
        // then
        #expect(results.verdict == .testFailures)
    }

    @Test func testThatTheScriptsSayWhatIsRead() async throws {
        // given: a PATH with only the shell.
        let command = ProjectProfile.Command(script: "none 'said so'\n", needs: ["no-such-program"])
        // when
        let missing = try await run(["/bin/sh", "-c", command.text], in: "/")
        let none = try await run(
            ["/bin/sh", "-c", ProjectProfile.Command(script: "none 'said so'\n", needs: ["cat"]).text], in: "/")
        // then
        #expect(missing.status == 127)
        expectContains(missing.stdout, "martlet: missing: no-such-program\n")
        #expect(none.status == 0)
        #expect(none.stdout == "martlet: no tests: said so\n")
    }
}
