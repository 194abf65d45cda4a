package import Model

/// The parts of a step's console that its kind of step uses.
package struct ConsoleContent: Sendable {
    package var findings: [Finding] = []
    /// The findings that consist only of the first line of a sanitizer's report. They are ignored if the command succeeded, since it may have only
    /// printed such a line.
    package var unsupported: [Finding] = []
    package var compiled = CompiledFiles()
    /// The number of an analysis' lines that were not understood: no finding, no explanation of a finding, and no report of success. If there is no
    /// finding either, the analysis counts as not understood, and not as clean.
    package var notUnderstood = 0
    /// A description of the last crash of a test process; `nil` if there was none.
    package var crash: String?
    package var xctest: [TestResult] = []
    package var swiftTesting: [TestResult] = []
    /// Problems of the output itself: a run of XCTest or Swift Testing without an end, or output that could not be read.
    package var problems: [String] = []
    /// The results of other test tools: Go's, Cargo's, CTest's, and TAP.
    package var others: [ReportContent] = []
    /// Lines of `swift test list`, or the first lines of the analyzer of C targets.
    package var listed: [String] = []
    /// The missing program that kept a usual command from starting, according to its script.
    package var missing: String?
    /// Why a usual command found no tests, according to its script.
    package var noTests: String?

    package init() {}

    /// Returns the problem text for a console that could not be read.
    package static func unreadable(_ why: String) -> String { "the output could not be read: \(why)" }
}

/// The contents of a step: its report files in their order, and its console.
package struct StepContent: Sendable {
    package var reports: [ReportContent] = []
    package var console = ConsoleContent()

    package init() {}
}

extension WireWriter {
    mutating func add(_ console: ConsoleContent) {
        add(list: console.findings) { $0.add($1) }
        add(list: console.unsupported) { $0.add($1) }
        console.compiled.write(to: &self)
        add(console.notUnderstood)
        add(optional: console.crash)
        add(list: console.xctest) { $0.add($1) }
        add(list: console.swiftTesting) { $0.add($1) }
        add(console.problems)
        add(list: console.others) { $0.add($1) }
        add(console.listed)
        add(optional: console.missing)
        add(optional: console.noTests)
    }
}

extension WireReader {
    mutating func console() throws(WireError) -> ConsoleContent {
        var console = ConsoleContent()
        console.findings = try findings()
        console.unsupported = try findings()
        console.compiled = try CompiledFiles(from: &self)
        console.notUnderstood = try int()
        console.crash = try optionalText()
        console.xctest = try tests()
        console.swiftTesting = try tests()
        console.problems = try textList()
        console.others = try list { (reader) throws(WireError) in try reader.content() }
        console.listed = try textList()
        console.missing = try optionalText()
        console.noTests = try optionalText()
        return console
    }
}
