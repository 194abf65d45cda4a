import Model
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs

/// Recipes with several steps of a kind, and the step that is first in a sandbox.
extension AttemptProcessorTests {
    @Test func testThatArchivingThatFailsIsBuildErrors() async throws {
        // given, when
        let results = try await results(of: [Played(step: .building), Played(step: .archiving, exit: 1)])

        // then
        #expect(results.verdict == .buildErrors)
        #expect(results.reason == "archiving failed: exit status 1")
    }

    @Suite struct GivenSeveralStepsOfAKind {
        private let outer = AttemptProcessorTests()

        @Test(
            .proves(
                .steps,
                "Steps that a recipe writes out: name, kind, command, environment, time-out, working directory, network, report, secrets"
            ))
        func testThatTestsOfAllCountAndASilentOneIsSaid() async throws {
            let results = try await outer.results(
                of: [
                    Played(step: .testing, name: "unit", report: AttemptProcessorTests.passing),
                    Played(step: .testing, name: "smoke", output: "fine\n"),
                    Played(step: .testing, name: "more", report: AttemptProcessorTests.passing),
                ], previousTests: 12)
            #expect(results.verdict == .succeeded)
            #expect(results.tests.count == 4)
            #expect(results.tested == "4 tests, 0 failing; 1 of 3 steps by exit status alone")
            #expect(!results.findings.contains { $0.finding.rule == "martlet.tests" }, "no test has vanished")
        }

        @Test func testThatVanishedTestsAreToldOnceForAll() async throws {
            let results = try await outer.results(
                of: [
                    Played(step: .testing, name: "unit", report: AttemptProcessorTests.empty),
                    Played(step: .testing, name: "more", report: AttemptProcessorTests.empty),
                ], previousTests: 12)
            #expect(results.verdict == .testFailures)
            #expect(results.findings.map(\.finding.rule) == [Finding.Rule.failedTestCommand])
            #expect(results.notes == ["0 tests", "0 tests"], "what was before is all steps' together")
        }

        @Test func testThatALimitIsToldBesideATestThatFailedBefore() async throws {
            let results = try await outer.results(
                of: [
                    Played(
                        step: .testing, exit: nil, signal: 9, limit: "testing exceeded 2 s",
                        report: AttemptProcessorTests.failing)
                ],
                limit: "testing exceeded 2 s")
            #expect(results.findings.map(\.finding.rule) == ["K/a", "martlet.test"])
            #expect(results.findings.last?.finding.message == "testing exceeded 2 s")
        }

        @Test func testThatAFailedStepIsNamed() async throws {
            let results = try await outer.results(
                of: [
                    Played(step: .building, name: "generate", output: "a.c:1:2: warning: odd\n"),
                    Played(step: .building, name: "compile", output: "oh\n", exit: 2),
                ])
            #expect(results.verdict == .buildErrors)
            #expect(results.reason == "the step compile failed: exit status 2")
            #expect(results.findings.map(\.finding.category) == [.warning, .error])
        }

        @Test func testThatAFailedResolutionSaysWhatSwiftPMSaid() async throws {
            let results = try await outer.results(
                of: [
                    Played(
                        step: .building, name: "resolve",
                        output:
                            "Fetching https://h/a\nerror: Failed to clone repository https://h/a:\n  no such host\n",
                        exit: 1)
                ])
            #expect(results.verdict == .buildErrors)
            #expect(results.findings.map(\.finding.rule) == ["martlet.resolve"])
            expectContains(results.findings[0].finding.message, "Failed to clone repository https://h/a:")
            // Also without a sandbox.
            expectContains(
                results.notes.joined(), "the dependency a could not be fetched: its registry cannot be reached")
        }

        @Test(
            .proves(
                .jobs,
                "A failed resolve step names the dependency, and says whether its registry could not be reached, refuses access, or does not have it"
            ))
        func testThatAFailedResolutionNamesTheDependencyAndTheRegistry() async throws {
            let results = try await outer.results(
                of: [
                    Played(
                        step: .building, name: "resolve",
                        output:
                            "npm error request to https://registry.npmjs.org/left-pad failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org\n",
                        exit: 1)
                ])
            #expect(results.verdict == .buildErrors)
            expectContains(
                results.findings.map(\.finding.message).joined(separator: "\n"),
                "resolving the dependencies failed: exit status 1: the dependency left-pad could not be fetched: registry.npmjs.org cannot be reached"
            )
        }
    }
}

extension AttemptProcessorTests.Played {
    /// The planner's name for a step of this kind.
    var usualName: String {
        switch step {
        case .building: "build"
        case .testing: "test"
        default: step.rawValue
        }
    }
}
