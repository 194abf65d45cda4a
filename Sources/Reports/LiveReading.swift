package import Model

/// What a step's output says while it is still being written, for people who watch.
///
/// It reads what the console says and nothing else; the step's result is read from the whole log and its reports when it
/// has ended.
package struct LiveReading: Sendable {
    /// What the output is looked through for.
    package enum Subject: Sendable { case diagnostics, tests }

    private let subject: Subject
    private var lines = LogLines()
    private var diagnostics: DiagnosticReader
    private var xctest: XCTestConsoleReader
    private var swiftTesting: SwiftTestingConsoleReader

    /// - Parameter listed: Lines of `swift test list`, as far as they are known.
    package init(_ subject: Subject, root: SourceRoot, listed: [String] = []) {
        self.subject = subject
        diagnostics = DiagnosticReader(root: root)
        xctest = XCTestConsoleReader(root: root, listed: listed)
        swiftTesting = SwiftTestingConsoleReader(root: root, listed: listed)
    }

    /// Takes in what was printed next, cut anywhere.
    package mutating func read(_ bytes: [UInt8]) {
        var (lines, diagnostics, xctest, swiftTesting) = (lines, diagnostics, xctest, swiftTesting)
        bytes.withUnsafeBytes { piece in
            lines.take(piece) { line in
                switch subject {
                case .diagnostics: diagnostics.take(line)
                case .tests:
                    xctest.take(line)
                    swiftTesting.take(line)
                }
            }
        }
        (self.lines, self.diagnostics, self.xctest, self.swiftTesting) = (lines, diagnostics, xctest, swiftTesting)
    }

    /// The errors and warnings so far, in the order in which they were printed. Those that only tell that something else
    /// failed come alone, when nothing else explains the failure, and may go again when something does.
    package var findings: [Finding] { diagnostics.finish() }

    /// The tests that have ended.
    package var tests: [TestResult] { xctest.ended + swiftTesting.ended }
}
