import Glibc
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

/// A step that a cancellation request of a user or a newer commit ended says nothing about the code.
extension AttemptProcessorTests {
    @Suite struct WhenItIsCanceled {
        private typealias Played = AttemptProcessorTests.Played

        private func canceled(_ played: AttemptProcessorTests.Played...) async throws -> AttemptResults {
            try await AttemptProcessorTests().results(of: played, outcome: .canceled, reason: "canceled by ada")
        }

        @Test(
            .proves(
                .jobs,
                "The step in which a job was canceled says nothing of the code: no issue, and no test that ran then has failed"
            ), arguments: [JobStep.building, .testing, .analyzing])
        func testThatTheStepThatWasEndedIsNoFinding(step: JobStep) async throws {
            // given, when
            let results = try await canceled(Played(step: step, exit: nil, signal: SIGTERM))

            // then
            #expect(results.verdict == .canceled)
            #expect(results.findings.map(\.finding.message) == [])
            #expect(results.counts.testFailures == 0)
        }

        /// It ended in the middle of a test, which would otherwise count as crashed.
        @Test(
            .proves(
                .jobs,
                "The step in which a job was canceled says nothing of the code: no issue, and no test that ran then has failed"
            ))
        func testThatATestThatRanIsNoFailure() async throws {
            // given
            let output = """
                Test Suite 'KitTests' started at 2026-01-01 10:00:00.000
                Test Case 'KitTests.testOne' started at 2026-01-01 10:00:00.000
                Test Case 'KitTests.testOne' passed (0.1 seconds)
                Test Case 'KitTests.testTwo' started at 2026-01-01 10:00:01.000

                """

            // when
            let results = try await canceled(Played(step: .testing, output: output, exit: nil, signal: SIGTERM))

            // then
            #expect(results.tests.map(\.outcome) == [.passed])
            #expect(results.findings.map(\.finding.message) == [])
        }

        @Test func testThatATestThatFailedBeforeIsAFailure() async throws {
            // given, when
            let results = try await canceled(
                Played(step: .testing, exit: nil, signal: SIGTERM, report: AttemptProcessorTests.failing))

            // then
            #expect(results.counts.testFailures == 1)
        }

        @Test(
            .proves(
                .jobs,
                "The step in which a job was canceled says nothing of the code: no issue, and no test that ran then has failed"
            ))
        func testThatAStepBeforeItThatFailedIsAFinding() async throws {
            // given, when
            let results = try await canceled(
                Played(step: .analyzing, exit: 1), Played(step: .building, exit: nil, signal: SIGTERM))

            // then
            #expect(results.findings.map(\.finding.message) == ["analyzing failed: exit status 1; see the log"])
        }
    }
}
