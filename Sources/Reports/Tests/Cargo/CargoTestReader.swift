import Model

/// A reader of the output of `cargo test`, and the output of Rust's test harness with `--format json`.
package struct CargoTestReader: Sendable {
    private var run: CargoTestRun
    private var lines = CargoTestLines()

    package init(root: SourceRoot) { self.init(root: root, isReport: false) }

    private init(root: SourceRoot, isReport: Bool) { run = CargoTestRun(root: root, isReport: isReport) }

    /// Reads a line of a console.
    package mutating func consume(_ line: LogLine) {
        guard
            lines.isWithin || line.contains(Self.needles)
                || run.isOpen && CargoTestLines.unnamedTests(line.bytes) != nil
        else { return }
        lines.consume(line.text, into: &run)
    }

    /// Whether a test has started and not ended, so that lines that look like other tools' output are its output.
    var isWithinTest: Bool { lines.isWaiting && run.isOpen }

    /// Outside of a test's output no other line tells anything, but for those of `cargo test -q`. A line is looked at as well if a terminal's
    /// sequence may part such a word.
    private static let needles: Needles = ["running ", "test ", "---- ", "Doc-tests ", "Running ", "\u{1B}"]

    /// Returns the tests; `nil` if no test binary ran.
    package mutating func finish() -> ReportContent? {
        let content = run.content()
        return run.suites > 0 ? content : nil
    }

    /// Returns the report's tests in their order. Suites are the test binaries, if their names are printed (on standard error).
    ///
    /// A test that started and did not end has crashed. A binary without a result, or with counts that differ from its tests, is a problem.
    package static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        var reader = CargoTestReader(root: root, isReport: true)
        LogLines.forEach(in: bytes) { reader.consume($0) }
        return reader.finish() ?? .unreadable("no test binary's output")
    }

    /// Reads events such as `{ "type": "test", "event": "ok", "name": "tests::adds", "exec_time": 0.1 }`, one per line.
    static func readJSON(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        var run = CargoTestRun(root: root)
        let problem = JSONLines.forEach(in: bytes) { run.consume($0) }
        var content = run.content()
        if let problem {
            content.problems.insert(contentsOf: ReportContent.unreadable(problem).problems, at: 0)
        } else if run.suites == 0 {
            return .unreadable("no test binary's events")
        }
        return content
    }
}
