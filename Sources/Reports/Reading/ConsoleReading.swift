/// A reader of a step's console, a piece at a time.
struct ConsoleReading {
    /// The most bytes of listed lines that are kept, which is enough for `swift test list` with 100,000 tests.
    private static let maximumListedBytes = 8 << 20

    private var lines = LogLines()
    private var readers: Readers

    /// - Parameters:
    ///   - listed: The lines that an earlier step listed.
    ///   - hasEvents: Whether a report contains the tests, so that the console of Swift Testing is not needed.
    ///   - tools: The tools that wrote the reports with tests; `nil` if one of them is unknown. Other tools' tests are not in these reports, and are
    ///     read from the console.
    init(_ subject: StepSubject, root: SourceRoot, listed: [String], hasEvents: Bool, tools: Set<TestTool>? = nil) {
        readers = Readers()
        if subject.contains(.words) { readers.words = UsualStepWords() }
        if subject.contains(.lines) { readers.list = [] }
        if subject.contains(.analysis) { readers.analyzer = AnalyzerLines(root: root) }
        if subject.contains(.build) {
            readers.diagnostics = DiagnosticReader(root: root, category: .asPrinted)
            readers.compiled = CompiledFiles()
        }
        guard subject.contains(.tests) else { return }
        readers.crash = CrashReader()
        readers.xctest = XCTestConsoleReader(root: root, listed: listed)
        readers.sanitizer = SanitizerReader(root: root)
        guard !hasEvents else {
            if let tools, !tools.isEmpty { readers.others = OtherConsoles(root: root, beside: tools) }
            return
        }
        readers.swiftTesting = SwiftTestingConsoleReader(root: root, listed: listed)
        readers.others = OtherConsoles(root: root)
    }

    mutating func consume(_ piece: UnsafeRawBufferPointer) {
        lines.consume(piece) { readers.consume($0) }
    }

    mutating func finish() -> ConsoleContent {
        lines.finish { readers.consume($0) }
        var content = ConsoleContent()
        content.findings =
            readers.diagnostics?.finish() ?? readers.analyzer?.finish() ?? readers.sanitizer?.finish() ?? []
        content.unsupported =
            readers.sanitizer.map { reader in content.findings.filter(reader.unsupported.contains) } ?? []
        content.notUnderstood = readers.analyzer?.notUnderstood ?? 0
        content.compiled = readers.compiled ?? CompiledFiles()
        content.crash = readers.crash?.finish()
        content.xctest = readers.xctest?.finish() ?? []
        content.swiftTesting = readers.swiftTesting?.finish() ?? []
        content.problems = (readers.xctest?.problems ?? []) + (readers.swiftTesting?.problems ?? [])
        content.others = readers.others?.finish() ?? []
        content.listed = readers.list ?? []
        content.problems += (readers.words?.missingReport).map { [$0] } ?? []
        content.missing = readers.words?.missing
        content.noTests = readers.words?.noTests
        return content
    }

    private struct Readers {
        var diagnostics: DiagnosticReader?
        var analyzer: AnalyzerLines?
        var sanitizer: SanitizerReader?
        var others: OtherConsoles?
        var compiled: CompiledFiles?
        var crash: CrashReader?
        var xctest: XCTestConsoleReader?
        var swiftTesting: SwiftTestingConsoleReader?
        var list: [String]?
        var words: UsualStepWords?
        private var listedBytes = 0

        init() {}

        mutating func consume(_ line: LogLine) {
            if compiled?.consume(line) == true { return }
            diagnostics?.consume(line)
            analyzer?.consume(line)
            sanitizer?.consume(line)
            let isWithinTest = xctest?.isWithinTest == true || swiftTesting?.isWithinTest == true
            others?.consume(line, isWithinTest: isWithinTest)
            crash?.consume(line)
            xctest?.consume(line)
            swiftTesting?.consume(line)
            words?.consume(line)
            if list != nil, listedBytes + line.count <= ConsoleReading.maximumListedBytes {
                listedBytes += line.count
                list?.append(line.text)
            }
        }
    }
}

/// A reader of messages from the script of a usual command to the service, each on a line of its own.
///
/// They are not read from a command that the recipe states. A job that prints such a line itself achieves no more than it could with its exit status,
/// and never a success that it could not have otherwise.
struct UsualStepWords {
    /// The missing program that kept the command from starting.
    private(set) var missing: String?
    private(set) var noTests: String?
    /// The report that is missing although the tests have ended.
    private(set) var missingReport: String?

    /// The longest message, in bytes; a longer text is not a message of the script.
    private static let maximumBytes = 200

    mutating func consume(_ line: LogLine) {
        guard line.count <= Self.maximumBytes, line.begins(with: "martlet: ") else { return }
        let text = line.text
        if let program = Self.rest(of: text, after: "martlet: missing: ") { missing = program }
        if let reason = Self.rest(of: text, after: "martlet: no tests: ") { noTests = reason }
        if let reason = Self.rest(of: text, after: "martlet: no report: ") { missingReport = reason }
    }

    private static func rest(of text: String, after prefix: String) -> String? {
        guard text.hasPrefix(prefix) else { return nil }
        return String(text.dropFirst(prefix.count))
    }
}
