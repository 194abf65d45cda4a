package import Model

/// Reads Swift Testing's results from a test command's output, for commands that leave no event stream.
///
/// The console is made for people: it names no suite of a test and no file's directory, and a test with a display name only
/// by that. So this is the last resort.
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
    package mutating func take(_ line: LogLine) {
        if line.contains(Self.needles) { run.take(line.text, root: root) }
    }

    /// Whether a test is running, so that what other tools seem to say is its output.
    var isWithinTest: Bool { run.isWithinTest }

    /// The tests that have an end by now.
    var ended: [TestResult] { run.ended }

    /// See `tests(in:root:listed:)`.
    package mutating func finish() -> [TestResult] { run.results() }

    /// What is wrong with the console itself, once it is finished: a run has no end, or failed without a failing test.
    package var problems: [String] { run.problems }

    /// The tests in the order in which they start. Linear in the log's length. A test without an end is crashed.
    /// - Parameter listed: Lines of `swift test list`, for the suites of functions that are there once.
    package static func tests(in log: [UInt8], root: SourceRoot, listed: [String] = []) -> [TestResult] {
        var reader = SwiftTestingConsoleReader(root: root, listed: listed)
        LogLines.forEach(in: log) { reader.take($0) }
        return reader.finish()
    }
}
