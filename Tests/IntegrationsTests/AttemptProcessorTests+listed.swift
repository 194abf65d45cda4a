import BotSupport
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs

/// Tests that `swift test list` names and that have no result.
extension AttemptProcessorTests {
    @Suite struct GivenAListOfTests {
        private let outer = AttemptProcessorTests()

        private static let begin = "Test Suite 'All tests' started at x\nTest Suite 'ATests' started at x\n"
        private static let one =
            "Test Case 'ATests.testOne' started at x\nTest Case 'ATests.testOne' passed (0.1 seconds)\n"
        private static let end = "Test Suite 'ATests' passed at x\nTest Suite 'All tests' passed at x\n"

        /// Returns the usual testing steps of a Swift package, with these outputs.
        private func played(_ output: String, flags: [String] = []) throws -> [Played] {
            let configuration = Recipe.Configuration(name: try Samples.name("debug"), flags: flags)
            let commands = JobCommands(configuration: configuration, timeout: .seconds(1), tools: "/s")
            let steps = commands.usual(projectType: .swiftPackage, tree: .init(rootEntries: ["Package.swift"]))
            let test = try #require(steps.first { $0.name == "test" })
            return [
                Played(step: .testing, name: "list", output: "KitTests.ATests/testOne\nKitTests.ATests/testTwo\n"),
                Played(step: .testing, name: "test", arguments: test.arguments, output: output),
            ]
        }

        @Test(
            .proves(
                .steps,
                "A listed test of a Swift package without a result did not run, and is red unless a crash explains it; a choice of tests leaves none out"
            ))
        func testThatAListedTestWithoutAResultIsRed() async throws {
            // given, when
            let results = try await outer.results(of: try played(Self.begin + Self.one + Self.end))
            // then
            #expect(results.verdict == .testFailures)
            #expect(results.reason == "1 listed test did not run: KitTests.ATests/testTwo")
            #expect(results.tests.map(\.outcome) == [.passed, .skipped])
            #expect(results.counts.tests == 1)
        }

        @Test func testThatTestsAfterACrashDidNotRun() async throws {
            // given, when
            let started = "Test Case 'ATests.testOne' started at x\n"
            let results = try await outer.results(of: try played(Self.begin + started))
            // then
            #expect(results.verdict == .testFailures)
            #expect(results.tests.map(\.fullName) == ["KitTests.ATests/testOne", "KitTests.ATests/testTwo"])
            #expect(results.tests.map(\.outcome) == [.crashed, .skipped])
        }

        @Test(
            .proves(
                .steps,
                "A listed test of a Swift package without a result did not run, and is red unless a crash explains it; a choice of tests leaves none out"
            ), arguments: [["--filter", "testOne"], ["--skip=testTwo"], ["--parallel"]])
        func testThatAChoiceOfTestsLeavesNoneOut(flags: [String]) async throws {
            // given, when
            let results = try await outer.results(of: try played(Self.begin + Self.one + Self.end, flags: flags))
            // then
            #expect(results.verdict == .succeeded, "\(results.reason ?? "")")
        }
    }
}
