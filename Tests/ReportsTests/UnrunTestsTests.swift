import Model
import TestSupport
import Testing

@testable import Reports

/// Listed tests without a result.
@Suite struct UnrunTestsTests {
    private let root = SourceRoot(mountedAt: "/kit")

    /// Returns `swift test list` and the results of Swift 6.3.1 for a package with tests of every form: overloads, raw names, displayed names,
    /// parameters without arguments, disabled and nested suites, a class of XCTest with a subclass, a skipped test.
    private func sample(cutAfter last: String? = nil) throws -> (listed: [String], tests: [TestResult]) {
        func lines(_ name: String) throws -> [String] {
            String(decoding: try Samples.bytes(name), as: UTF8.self).split(separator: "\n").map(String.init)
        }
        let listed = try lines("forms-list.txt")
        var console = try lines("forms-console.txt")
        if let last, let end = console.firstIndex(where: { $0.contains(last) }) { console = Array(console[...end]) }
        let xctest = XCTestConsoleReader.tests(
            in: Array((console.joined(separator: "\n") + "\n").utf8), root: root, listed: listed)
        let events = last == nil ? try Samples.bytes("forms-events.jsonl") : []
        let content = ReportReader.read(events, fileName: "a", root: root)
        return (listed, TestMerge.merge(reports: [content], consoles: [xctest]))
    }

    private func results(_ tests: [(String, String, TestResult.Outcome)]) -> [TestResult] {
        tests.map { TestResult(suite: $0.0, name: $0.1, outcome: $0.2) }
    }

    @Test(
        .proves(
            .steps,
            "A listed test of a Swift package without a result did not run, and is red unless a crash explains it; a choice of tests leaves none out"
        ))
    func testThatEachListedTestOfEveryFormHasAResult() throws {
        // given
        let (listed, tests) = try sample()
        #expect(listed.count == 29)
        // when
        let unrun = UnrunTests(listed: listed, tests: tests, isSuccess: true)
        // then
        #expect(unrun.results == [])
        #expect(unrun.problem == nil)
    }

    @Test(
        .proves(
            .steps,
            "A listed test of a Swift package without a result did not run, and is red unless a crash explains it; a choice of tests leaves none out"
        ))
    func testThatTestsAfterACrashDidNotRun() throws {
        // given: the process exits in testExits.
        let (listed, tests) = try sample(cutAfter: "'ParserTests.testExits' started")
        let others = ["[0/1] Planning build", "warning: 'kit': a/b.swift is not handled", "Build complete! (0.1s)"]
        // when
        let unrun = UnrunTests(listed: others + listed, tests: tests, isSuccess: true)
        // then: XCTest runs before Swift Testing, so all of its 21 functions, two of one name, did not run either.
        let names = unrun.results.map(\.fullName)
        #expect(names.contains("KitTests.ParserTests/testLast") && names.contains("KitTests.ParserTests/testSkipped"))
        #expect(!names.contains("KitTests.ParserTests/testExits") && !names.contains("KitTests.BaseTests/testBase"))
        #expect(names.count == 22)
        #expect(unrun.results.allSatisfy { $0.outcome == .skipped && $0.message == CrashedProcess.neverBegun })
        #expect(unrun.problem == nil)
    }

    @Test func testThatAListedTestWithoutAResultIsMissed() {
        // given
        let tests = results([("KitTests.ATests", "testOne", .passed), ("KitTests", "free()", .passed)])
        let listed = ["KitTests.ATests/testOne", "KitTests.ATests/testTwo", "KitTests.free()", "KitTests.other()"]
        // when
        let unrun = UnrunTests(listed: listed, tests: tests, isSuccess: true)
        // then
        #expect(unrun.results.map(\.fullName) == ["KitTests.ATests/testTwo", "KitTests/other()"])
        #expect(unrun.problem == "2 listed tests did not run: KitTests.ATests/testTwo, KitTests/other()")
    }

    @Test(
        .proves(
            .steps,
            "A listed test of a Swift package without a result did not run, and is red unless a crash explains it; a choice of tests leaves none out"
        ),
        arguments: [
            // A base class whose tests run only in subclasses, and other lines of `swift test list`.
            (["KitTests.BaseTests/testOne", "warning: a target has no tests", "Building for debugging..."], true),
            // The class is printed without its module.
            (["KitTests.BTests/testTwo"], true),
            // A command that failed reports that itself.
            (["KitTests.ATests/testTwo"], false),
        ])
    func testThatNothingIsClaimedInDoubt(listed: [String], isSuccess: Bool) {
        // given
        let tests = results([("KitTests.ATests", "testOne", .passed), ("BTests", "testTwo", .passed)])
        // when
        let unrun = UnrunTests(listed: listed, tests: tests, isSuccess: isSuccess)
        // then
        #expect(unrun.results == [])
        #expect(unrun.problem == nil)
    }
}
