import JobProtocol
import Model
import Reports

/// What a step printed, as far as its kind makes something of it: read once, a piece at a time.
struct StepConsole {
    private(set) var findings: [Finding] = []
    private(set) var compiled = CompiledFiles()
    /// How a test process crashed last.
    private(set) var crash: String?
    private(set) var xctest: [TestResult] = []
    private(set) var swiftTesting: [TestResult] = []
    /// What is wrong with the output of XCTest and Swift Testing themselves.
    private(set) var problems: [String] = []
    /// What other tools that test printed: Go's, Cargo's, CTest's, and TAP.
    private(set) var others: [ReportContent] = []
    /// Lines of `swift test list`, or the first ones of the analyzer of C targets.
    private(set) var listed: [String] = []
    private var words = UsualStepWords()
    private var lines = LogLines()
    private var readers = Readers()

    /// - Parameters:
    ///   - listed: What an earlier step listed.
    ///   - hasEvents: A report has the tests, so that the console of Swift Testing is not needed.
    init(step: JobDescription.Step, kind: JobStep, root: SourceRoot, listed: [String], hasEvents: Bool) {
        if UsualStepWords.mayBe(in: step) { readers.words = UsualStepWords() }
        switch kind {
        case .analyzing:
            if JobPlanner.isClangStep(step) { readers.list = [] }
            if step.report.isEmpty { readers.analyzer = AnalyzerLines(root: root) }
        case .building:
            readers.diagnostics = DiagnosticReader(root: root, category: .asPrinted)
            readers.compiled = CompiledFiles()
        case .testing where step.name == JobPlanner.listStep: readers.list = []
        case .testing:
            readers.crash = CrashReader()
            readers.xctest = XCTestConsoleReader(root: root, listed: listed)
            readers.sanitizer = SanitizerReader(root: root)
            if !hasEvents {
                readers.swiftTesting = SwiftTestingConsoleReader(root: root, listed: listed)
                readers.others = OtherConsoles(root: root)
            }
        case .archiving, .checkout, .processing: break
        }
    }

    mutating func take(_ piece: UnsafeRawBufferPointer) {
        lines.take(piece) { readers.take($0) }
    }

    /// All was taken: what was read can be used.
    mutating func finish() {
        lines.finish { readers.take($0) }
        findings =
            readers.diagnostics?.finish() ?? readers.analyzer?.finish() ?? readers.sanitizer?.finish() ?? []
        compiled = readers.compiled ?? CompiledFiles()
        crash = readers.crash?.finish()
        xctest = readers.xctest?.finish() ?? []
        swiftTesting = readers.swiftTesting?.finish() ?? []
        problems = (readers.xctest?.problems ?? []) + (readers.swiftTesting?.problems ?? [])
        others = readers.others?.finish() ?? []
        listed = readers.list ?? []
        words = readers.words ?? UsualStepWords()
        readers = Readers()
    }

    /// The program without which the service's own command could not begin; nothing when it did.
    func missingProgram(_ step: JobDescription.Step, _ end: CommandEnd) -> String? {
        guard end.exit == 127 else { return nil }
        if let program = words.missing { return program }
        // Started without a shell, so that the status is not that of a command within it: `swift`, `make`.
        guard let program = step.arguments.first, !program.contains("/") else { return nil }
        return program
    }

    /// Why the service's own command found nothing to test.
    func noTests(_ step: JobDescription.Step) -> String? { words.noTests }

    private struct Readers {
        /// The most bytes of lines that are kept: `swift test list` of 100,000 tests.
        private static let maximumListedBytes = 8 << 20

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

        mutating func take(_ line: LogLine) {
            if compiled?.take(line) == true { return }
            diagnostics?.take(line)
            analyzer?.take(line)
            sanitizer?.take(line)
            others?.take(line)
            crash?.take(line)
            xctest?.take(line)
            swiftTesting?.take(line)
            words?.take(line)
            if list != nil, listedBytes + line.count <= Self.maximumListedBytes {
                listedBytes += line.count
                list?.append(line.text)
            }
        }
    }
}
