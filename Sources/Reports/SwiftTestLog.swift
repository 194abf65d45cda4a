import Model

/// The console of `swift test`, kept in a file.
enum SwiftTestLog {
    /// The tests of XCTest and of Swift Testing. A log that shows none, ends before a run does, or says that tests failed and
    /// names none is a problem.
    static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        var xctest = XCTestConsoleReader(root: root)
        var swiftTesting = SwiftTestingConsoleReader(root: root)
        LogLines.forEach(in: bytes) { line in
            xctest.take(line)
            swiftTesting.take(line)
        }
        let tests = TestMerge.merge(
            [xctest.finish(), swiftTesting.finish()], end: CommandEnd(exit: nil, console: bytes))
        let problems = xctest.problems + swiftTesting.problems
        return tests.isEmpty && problems.isEmpty
            ? .unreadable("a console of swift test without a test") : ReportContent(tests: tests, problems: problems)
    }
}
