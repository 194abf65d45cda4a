package import Model

/// A reader of a step's output while it is still being written, for users who watch it.
///
/// It reads only the console. The step's result is read from the whole log and its reports when the step has ended.
package struct LiveReading: Sendable {
    /// What the output is searched for.
    package enum Subject: Sendable { case diagnostics, tests }

    private let subject: Subject
    private var lines = LogLines()
    private var diagnostics: DiagnosticReader
    private var xctest: XCTestConsoleReader
    private var swiftTesting: SwiftTestingConsoleReader

    /// - Parameter listed: The known lines of `swift test list`.
    package init(_ subject: Subject, root: SourceRoot, listed: [String] = []) {
        self.subject = subject
        diagnostics = DiagnosticReader(root: root)
        xctest = XCTestConsoleReader(root: root, listed: listed)
        swiftTesting = SwiftTestingConsoleReader(root: root, listed: listed)
    }

    /// Reads the next output, split anywhere.
    package mutating func read(_ bytes: [UInt8]) {
        var (lines, diagnostics, xctest, swiftTesting) = (lines, diagnostics, xctest, swiftTesting)
        bytes.withUnsafeBytes { piece in
            lines.consume(piece) { line in
                switch subject {
                case .diagnostics: diagnostics.consume(line)
                case .tests:
                    xctest.consume(line)
                    swiftTesting.consume(line)
                }
            }
        }
        (self.lines, self.diagnostics, self.xctest, self.swiftTesting) = (lines, diagnostics, xctest, swiftTesting)
    }

    /// The errors and warnings so far, in the order in which they were printed. An error that only reports that something else failed is included
    /// while there is no other error.
    package var findings: [Finding] { diagnostics.finish() }

    /// The tests that have ended.
    package var tests: [TestResult] { xctest.ended + swiftTesting.ended }
}
