import Model

/// A reader of the console of `swift test` from a file.
enum SwiftTestLog {
    /// Returns the tests of XCTest and of Swift Testing. It is a problem if a log contains no test, ends before a run does, or reports failed tests
    /// without naming them.
    static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        var xctest = XCTestConsoleReader(root: root)
        var swiftTesting = SwiftTestingConsoleReader(root: root)
        LogLines.forEach(in: bytes) { line in
            xctest.consume(line)
            swiftTesting.consume(line)
        }
        let tests = TestMerge.merge(
            [xctest.finish(), swiftTesting.finish()], end: CommandEnd(exit: nil, console: bytes))
        let problems = xctest.problems + swiftTesting.problems
        return tests.isEmpty && problems.isEmpty
            ? .unreadable("a console of swift test without a test") : ReportContent(tests: tests, problems: problems)
    }
}
