import Model

/// A reader of the consoles of tools that name only failed tests and count the others.
struct SummaryConsoles: Sendable {
    private var readers: [any SummaryReader]
    private var prove: ProveConsole

    init(root: SourceRoot) {
        prove = ProveConsole(root: root)
        readers = [
            UnittestConsole(root: root), PHPUnitConsole(root: root), RSpecConsole(root: root),
            MinitestConsole(root: root), ExUnitConsole(root: root), BustedConsole(root: root),
            AutomakeConsole(root: root), HspecConsole(root: root),
        ]
    }

    /// The texts that lines outside of a block must contain to matter.
    private static let needles: Needles = [
        "Ran ", "=======", ") ... ", "PHPUnit ", "Finished in ", "Failures:", "Run options:", "Loaded suite ",
        "Started",
        "Running ExUnit", "  1) ", " pending : ", "Testsuite summary", "PASS: ", "FAIL: ", "SKIP: ", "XPASS: ",
        "ERROR: ",
    ]
    private static let ofProve: Needles = [" ..", "Files=", "Result: ", "Test Summary Report"]

    mutating func consume(_ line: LogLine) {
        let mayBegin = line.contains(Self.needles)
        var text: String?
        for index in readers.indices where mayBegin || readers[index].isWithin {
            let found = text ?? line.text
            text = found
            readers[index].consume(found)
        }
        if prove.isWithin || line.contains(Self.ofProve) { prove.consume(text ?? line.text) }
    }

    /// Returns the tests in a file with such a console.
    static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        var consoles = SummaryConsoles(root: root)
        LogLines.forEach(in: bytes) { consoles.consume($0) }
        let contents = consoles.finish()
        guard !contents.isEmpty else {
            var content = LintLines.read(bytes, root: root)
            content.subject = .lines
            return content
        }
        var content = ReportContent(
            tests: contents.flatMap(\.tests), problems: contents.flatMap(\.problems), notes: contents.flatMap(\.notes))
        content.hasNoTests = contents.allSatisfy(\.hasNoTests)
        return content
    }

    /// Whether `prove` has run. It runs programs that write TAP.
    var hasProve: Bool { prove.content() != nil }

    /// Returns the results of each tool that has run.
    func finish() -> [ReportContent] { (readers.map { $0.content() } + [prove.content()]).compactMap { $0 } }
}
