package import Model

/// Reads Swift Testing's results from a test command's output, for commands that leave no event stream.
///
/// The console is made for people: it names no suite of a test and no file's directory, and a test with a display name only
/// by that. So this is the last resort.
package enum SwiftTestingConsoleReader {
    /// The tests in the order in which they start. Linear in the log's length. A test without an end is crashed.
    /// - Parameter listed: Lines of `swift test list`, for the suites of functions that are there once.
    package static func tests(in log: [UInt8], root: SourceRoot, listed: [String] = []) -> [TestResult] {
        var run = SwiftTestingRun(names: ListedTests(listed))
        LogScan.forEachLine(in: log, containing: ["Test ", "Fatal error", "*** Signal", "unexpected signal"]) { line in
            run.take(line.text, root: root)
        }
        return run.results()
    }
}
