package import Model

/// Reads XCTest's results from a test command's output, as XCTest of Linux and of macOS prints it.
///
/// XCTest has no report file for this: its results come from the console alone (SwiftPM writes an xUnit file only with
/// `--parallel`, without skipped tests). Tests that print without a line feed, several runs in one log, `--parallel` and
/// color are all met.
package struct XCTestConsoleReader: Sendable {
    private var run: XCTestRun

    /// - Parameter listed: See `tests(in:root:listed:)`.
    package init(root: SourceRoot, listed: [String] = []) { run = XCTestRun(root: root, names: ListedTests(listed)) }

    /// Reads a line. Most lines are ignored.
    package mutating func take(_ line: LogLine) { run.take(line) }

    /// Whether a test is running, so that what other tools seem to say is its output.
    var isWithinTest: Bool { run.isWithinTest }

    /// The tests that have an end by now.
    var ended: [TestResult] { run.ended }

    /// See `tests(in:root:listed:)`.
    package mutating func finish() -> [TestResult] { run.results() }

    /// What is wrong with the console itself, once it is finished: it ends before its run does, or says that tests failed and
    /// names none.
    package var problems: [String] { run.problems }

    /// The tests in the order in which they first appear. Linear in the log's length.
    ///
    /// A test that was started and has no end is crashed; its text has the signal and the fatal error if the log tells. A
    /// test that one run has twice is two tests, in classes of one name in two modules.
    /// - Parameter listed: Lines of `swift test list` (`KitTests.ParserTests/testIt`). XCTest prints only the class on
    ///   Linux; with these the suite is `KitTests.ParserTests`, without them `ParserTests`.
    package static func tests(in log: [UInt8], root: SourceRoot, listed: [String] = []) -> [TestResult] {
        var reader = XCTestConsoleReader(root: root, listed: listed)
        LogLines.forEach(in: log) { reader.take($0) }
        return reader.finish()
    }
}
