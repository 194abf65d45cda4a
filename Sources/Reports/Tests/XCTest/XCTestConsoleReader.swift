package import Model

/// A reader of XCTest's results from a test command's output, as XCTest on Linux and on macOS prints it.
///
/// XCTest has no report file, so its results come only from the console. (SwiftPM writes an xUnit file only with `--parallel`, without skipped
/// tests.) The reader supports tests that print without a line feed, several runs in one log, `--parallel` and colors.
package struct XCTestConsoleReader: Sendable {
    private var run: XCTestRun

    /// - Parameter listed: See `tests(in:root:listed:)`.
    package init(root: SourceRoot, listed: [String] = []) { run = XCTestRun(root: root, names: ListedTests(listed)) }

    /// Reads a line. Most lines are ignored.
    package mutating func consume(_ line: LogLine) { run.consume(line) }

    /// Whether a test is running, so that lines that look like other tools' output are its output.
    var isWithinTest: Bool { run.isWithinTest }

    /// The tests that have ended so far.
    var ended: [TestResult] { run.ended }

    /// See `tests(in:root:listed:)`.
    package mutating func finish() -> [TestResult] { run.results() }

    /// The problems of the console itself, after `finish()`: it ends before its run does, or reports failed tests without naming them.
    package var problems: [String] { run.problems }

    /// Returns the tests in the order in which they first appear. The time is linear in the log's length.
    ///
    /// A test that started and did not end has crashed. Its text has the signal and the fatal error if the log contains them. A test that occurs
    /// twice in one run is two tests, in classes of one name in two modules.
    /// - Parameter listed: The lines of `swift test list` (`KitTests.ParserTests/testIt`). XCTest prints only the class on Linux. With these lines
    ///   the suite is `KitTests.ParserTests`, without them `ParserTests`.
    package static func tests(in log: [UInt8], root: SourceRoot, listed: [String] = []) -> [TestResult] {
        var reader = XCTestConsoleReader(root: root, listed: listed)
        LogLines.forEach(in: log) { reader.consume($0) }
        return reader.finish()
    }
}
