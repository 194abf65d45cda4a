import Model
import Reports
import Storage
import TestSupport
import Testing

@testable import Integrations

/// The result if nothing was tested, or little, and if an analysis was not understood.
extension AttemptProcessorTests {
    @Suite struct WhenNothingIsTested {
        private let outer = AttemptProcessorTests()
        private static let none = "?   \tkit\t[no test files]\n"
        private static let skipped =
            "<testsuite name=\"K\"><testcase classname=\"K\" name=\"a\"><skipped/></testcase></testsuite>"

        /// A report without tests, a tool that states that it has none, and a command of which only the exit status is known.
        @Test(
            .proves(
                .reports, "Never green by absence: unreadable reports, no tests after some, a command without a report"),
            arguments: [
                (Played(step: .testing, report: AttemptProcessorTests.empty), "if that is right, write `test: none`"),
                (
                    Played(step: .testing, output: none),
                    "the test command found no test; if that is right, write `test: none`"
                ),
                (
                    Played(step: .testing, output: "fine\n"),
                    "if its command still runs tests, name its report with `report:`"
                ),
            ])
        func testThatNoTestAtAllAfterSomeIsRed(played: Played, advice: String) async throws {
            // when
            let results = try await outer.results(of: [played], previousTests: 12)
            // then
            #expect(results.verdict == .testFailures)
            #expect(results.findings.map(\.finding.category) == [.testFailure])
            expectContains(results.reason ?? "", "no test was reported, although the integration before had 12")
            expectContains(results.reason ?? "", advice)
        }

        @Test(
            .proves(
                .reports,
                "A recipe's report without a test, tests that are all skipped, and a test step that is gone are red"))
        func testThatAPlanWithoutATestStepAfterSomeTestsIsRed() async throws {
            // when
            let results = try await outer.results(
                of: [Played(step: .building)], previousTests: 3, whyUntested: "the recipe has no step: testing")
            // then
            #expect(results.verdict == .testFailures)
            expectContains(results.reason ?? "", "the integration before had 3: the recipe has no step: testing; ")
        }

        @Test(
            .proves(
                .reports,
                "A recipe's report without a test, tests that are all skipped, and a test step that is gone are red"))
        func testThatTestsThatAreAllSkippedAfterSomeAreRed() async throws {
            // when
            let results = try await outer.results(of: [Played(step: .testing, report: Self.skipped)], previousTests: 1)
            // then
            #expect(results.verdict == .testFailures)
            expectContains(
                results.reason ?? "",
                "no test ran (skipped: 1), although the integration before had 1")
        }

        @Test(
            .proves(
                .reports,
                "A recipe's report without a test, tests that are all skipped, and a test step that is gone are red"))
        func testThatAReportOfTheRecipeWithoutATestIsRed() async throws {
            // when
            let results = try await outer.results(
                of: [Played(step: .testing, report: AttemptProcessorTests.empty)], askedReports: ["*.xml"])
            // then
            #expect(results.verdict == .testFailures)
            expectContains(results.reason ?? "", "no test was reported, although the recipe names report: *.xml")
        }

        @Test(
            .proves(.reports, "\"nothing was tested: …\" is a warning that names the commands of the project's own CI"),
            arguments: [
                (Played(step: .testing, report: AttemptProcessorTests.empty), "the test command reported no test"),
                (Played(step: .testing, output: none), "the test command found no test"),
                (Played(step: .testing, report: skipped), "no test ran (skipped: 1)"),
                (Played(step: .building), "the recipe names no test command"),
            ])
        func testThatItIsAWarningWhereThereNeverWasATest(played: Played, reason: String) async throws {
            // when
            let results = try await outer.results(
                of: [played], previousTests: nil, whyUntested: "the recipe names no test command")
            // then
            let message = "nothing was tested: \(reason); write `test:`, or `test: none` if there is nothing to test"
            #expect(results.verdict == .warnings)
            #expect(results.reason == message)
            #expect(results.findings.map(\.finding.message) == [message])
            #expect(results.findings.map(\.step) == [.testing])
            #expect(results.counts.warnings == 1)
        }

        @Test(
            .proves(.reports, "\"nothing was tested: …\" is a warning that names the commands of the project's own CI"))
        func testThatTheWarningNamesTheCommandsOfTheProjectsOwnCI() async throws {
            // when
            let results = try await outer.results(
                of: [Played(step: .testing, output: Self.none)],
                ownCommands: [.init(file: ".travis.yml", command: "make integration")])
            // then
            expectContains(
                results.reason ?? "",
                "the test command found no test; the project's own CI runs `make integration` (.travis.yml); write `test:`"
            )
        }

        /// `test: none`, other kinds of project that are tested, a rerun of some tests.
        @Test func testThatNothingWarnsWhereNoTestsAreExpected() async throws {
            // when
            let results = try await outer.results(
                of: [Played(step: .building)], whyUntested: "the recipe names no test command", expectsTests: false)
            // then
            #expect(results.verdict == .succeeded)
            #expect(results.findings.isEmpty)
        }

        @Test func testThatABuildThatFailedSaysNothingOfTests() async throws {
            // when
            let results = try await outer.results(
                of: [Played(step: .building, exit: 1)], previousTests: 12,
                whyUntested: "the recipe names no test command")
            // then
            #expect(results.verdict == .buildErrors)
            #expect(results.findings.map(\.finding.category) == [.error])
        }

        @Test func testThatAStepByExitStatusBesideOneWithoutTestsHasTestedSomething() async throws {
            // when
            let results = try await outer.results(of: [
                Played(step: .testing, name: "unit", output: Self.none),
                Played(step: .testing, name: "smoke", output: "fine\n"),
            ])
            // then
            #expect(results.verdict == .succeeded)
        }
    }

    @Suite struct WhenFewerTestsRun {
        private let outer = AttemptProcessorTests()

        private func report(_ count: Int) -> String {
            let cases = (0..<count).map { "<testcase classname=\"K\" name=\"t\($0)\"/>" }.joined()
            return "<testsuite name=\"K\">\(cases)</testsuite>"
        }

        @Test(
            .proves(.reports, "Fewer than half of the tests, and at least 20 fewer, is a warning"),
            arguments: [
                (3, 500, true), (1, 21, true), (249, 500, true), (250, 500, false), (10, 29, false), (2, 10, false),
                (9, 3, false),
            ])
        func testThatALossOfHalfOfThemIsAWarning(ran: Int, before: Int, isWarning: Bool) async throws {
            // when
            let results = try await outer.results(
                of: [Played(step: .testing, report: report(ran))], previousTests: before)
            // then
            let message = "only \(ran == 1 ? "1 test" : "\(ran) tests") ran; the integration before had \(before)"
            #expect(results.verdict == (isWarning ? .warnings : .succeeded))
            #expect(results.findings.map(\.finding.message) == (isWarning ? [message] : []))
            #expect(results.reason == (isWarning ? message : nil))
        }
    }

    @Suite struct WhenAnAnalysisIsNotUnderstood {
        private let outer = AttemptProcessorTests()
        private static let odd = "widget 7 is not frobbed\n\nwidget 9 is not frobbed\n"

        @Test(.proves(.reports, "An analysis whose output was not understood is never clean, and resolves nothing"))
        func testThatItIsNeverClean() async throws {
            // when
            let results = try await outer.results(of: [
                Played(step: .analyzing, name: "pylint", output: Self.odd), Played(step: .building),
            ])
            // then
            #expect(results.verdict == .analyzerWarnings)
            #expect(results.analysis == "not understood: 2 lines (pylint)")
            #expect(results.findings.map(\.finding.category) == [.analyzerWarning])
            #expect(results.findings.map(\.finding.rule) == [Finding.Rule.notUnderstood])
            #expect(results.counts.analyzerWarnings == 1)
        }

        @Test(.proves(.reports, "An analysis whose output was not understood is never clean, and resolves nothing"))
        func testThatThoseThatWereUnderstoodAreNamedBesideIt() async throws {
            // when
            let results = try await outer.results(of: [
                Played(step: .analyzing, name: "ruff", output: "All checks passed!\n"),
                Played(step: .analyzing, name: "pylint", output: Self.odd), Played(step: .building),
            ])
            // then
            #expect(results.analysis == "clean (ruff); not understood: 2 lines (pylint)")
        }

        @Test(arguments: ["All checks passed!\n", "", "> kit@1.0.0 lint\n> eslint .\n"])
        func testThatWhatSaysThatAllIsWellIsClean(output: String) async throws {
            // when
            let results = try await outer.results(of: [
                Played(step: .analyzing, name: "lint", output: output), Played(step: .building),
            ])
            // then
            #expect(results.verdict == .succeeded)
            #expect(results.analysis == "clean (lint)")
        }

        @Test func testThatLinesBesideAFindingAreNotCounted() async throws {
            // when
            let results = try await outer.results(of: [
                Played(step: .analyzing, name: "lint", output: Self.odd + "a.c:1:2: warning: odd [-Wodd]\n"),
                Played(step: .building),
            ])
            // then
            #expect(results.analysis == "1 finding (lint)")
            #expect(results.findings.map(\.finding.rule) == ["-Wodd"])
        }
    }
}
