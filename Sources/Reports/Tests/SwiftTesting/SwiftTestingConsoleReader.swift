package import Model

/// A reader of Swift Testing's results from a test command's output, for commands without an event stream.
///
/// It is the last resort, since the console is made for humans. It prints neither a test's suite nor a file's directory, and a test with a display
/// name only by that name.
package struct SwiftTestingConsoleReader: Sendable {
    private static let needles: Needles = ["Test ", "Fatal error", "*** Signal", "unexpected signal"]

    private let root: SourceRoot
    private var run: SwiftTestingRun

    /// - Parameter listed: See `tests(in:root:listed:)`.
    package init(root: SourceRoot, listed: [String] = []) {
        self.root = root
        run = SwiftTestingRun(names: ListedTests(listed))
    }

    /// Reads a line. Most lines are ignored.
    package mutating func consume(_ line: LogLine) {
        if line.contains(Self.needles) { run.consume(line.text, root: root) }
    }

    /// Whether a test is running, so that lines that look like other tools' output are its output.
    var isWithinTest: Bool { run.isWithinTest }

    /// The tests that have ended so far.
    var ended: [TestResult] { run.ended }

    /// See `tests(in:root:listed:)`.
    package mutating func finish() -> [TestResult] { run.results() }

    /// The problems of the console itself, after `finish()`: a run has no end, or failed without a failing test.
    package var problems: [String] { run.problems }

    /// Returns the tests in the order in which they start. The time is linear in the log's length. A test without an end has crashed.
    /// - Parameter listed: The lines of `swift test list`, which give the suites of functions that occur once.
    package static func tests(in log: [UInt8], root: SourceRoot, listed: [String] = []) -> [TestResult] {
        var reader = SwiftTestingConsoleReader(root: root, listed: listed)
        LogLines.forEach(in: log) { reader.consume($0) }
        return reader.finish()
    }
}

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
