/// The session of `martlet-reader`: it reads the records of a `ReadingRequest` and returns those of a `ReadingAnswer`.
package struct ReadingSession {
    /// The most bytes of the findings and tests of one report or console, as sent to the daemon.
    static let maximumContentBytes = 64 << 20
    /// The most bytes of all reports and consoles together.
    static let maximumBytes = 128 << 20
    /// The most elements of all lists of all reports and consoles. One of these has at most `WireReader.maximumElements`.
    static let maximumElements = 2_000_000

    private struct Step {
        var number: Int
        var subject: StepSubject
        var reports = 0
        var hasTests = false
        /// The tools that wrote the reports with tests; `nil` if one of them is unknown.
        var tools: Set<TestTool>? = []
        var console: ConsoleReading?
        var writer = WireWriter()
    }

    private struct File {
        var name: String
        var size: Int
        var bytes: [UInt8] = []
    }

    private var root: SourceRoot?
    private var listed: [String] = []
    private var step: Step?
    private var file: File?
    private var written = WireWriter.Size()
    /// Whether the conversation has ended.
    package private(set) var isOver = false

    private let isFiltered: Bool

    /// - Parameter isFiltered: Whether this process has a filter of system calls. If it has none, the daemon is informed.
    package init(isFiltered: Bool = true) { self.isFiltered = isFiltered }

    /// Processes a record.
    /// - Returns: The bytes to write before the next record is read, so that the daemon knows what was being read if this process ends.
    /// - Throws: For a record that no daemon of this version sends.
    package mutating func consume(_ kind: UInt8, _ bytes: [UInt8]) throws(WireError) -> [UInt8] {
        guard let kind = ReadingRequest.Kind(rawValue: kind) else { throw WireError("an unknown record") }
        var reader = WireReader(bytes)
        switch kind {
        case .root:
            let version = try reader.int()
            guard version == ReadingRequest.version else {
                throw WireError(
                    "version \(version) is not \(ReadingRequest.version): install both programs of one version")
            }
            root = SourceRoot(paths: try reader.textList())
            if !isFiltered { return ReadingAnswer.unfiltered }
        case .step:
            let number = try reader.int()
            step = Step(number: number, subject: StepSubject(rawValue: UInt8(truncatingIfNeeded: try reader.int())))
        case .report:
            endFile()
            file = File(name: try reader.text(), size: try reader.int())
            if let file, file.size <= ReportReader.maximumBytes { self.file?.bytes.reserveCapacity(file.size) }
            return beginItem()
        case .bytes: file?.bytes += bytes
        case .console:
            endFile()
            let begun = step?.console == nil ? try beginConsole() : []
            bytes.withUnsafeBytes { step?.console?.consume($0) }
            return begun
        case .stepEnd: return endStep()
        case .end:
            isOver = true
            return ReadingAnswer.end
        }
        return []
    }

    /// Begins a console. It is a separate function, so that no copy of the step is held while the console is read.
    private mutating func beginConsole() throws(WireError) -> [UInt8] {
        guard let root, let step else { throw WireError("the console of an unknown step") }
        self.step?.console = ConsoleReading(
            step.subject, root: root, listed: listed, hasEvents: step.hasTests, tools: step.tools)
        return beginItem()
    }

    private func beginItem() -> [UInt8] {
        guard let step else { return [] }
        return ReadingAnswer.begin(step: step.number, item: step.reports)
    }

    private mutating func endFile() {
        guard let file, let root, step != nil else { return }
        self.file = nil
        let content =
            file.size > ReportReader.maximumBytes
            ? ReportContent.unreadable(
                "\(file.size) bytes, more than \(ReportReader.maximumBytes)", fileName: file.name)
            : ReportReader.read(file.bytes, fileName: file.name, root: root)
        add(content) { ReportContent.unreadable($0, fileName: file.name) }
    }

    private mutating func add(_ content: ReportContent, otherwise: (String) -> ReportContent) {
        guard var step else { return }
        self.step = nil
        step.reports += 1
        if !content.tests.isEmpty {
            step.hasTests = true
            if let tool = content.tool { step.tools?.insert(tool) } else { step.tools = nil }
        }
        let before = step.writer.size
        step.writer.beginPart()
        step.writer.add(content)
        if let why = excess(of: step.writer.size - before) {
            step.writer.truncate(to: before)
            step.writer.add(otherwise(why))
        }
        written = written + (step.writer.size - before)
        self.step = step
    }

    /// Returns why a report or a console of this size is too large; `nil` if it is not.
    private func excess(of size: WireWriter.Size) -> String? {
        if size.bytes > Self.maximumContentBytes {
            return "its tests and findings have more than \(Self.maximumContentBytes >> 20) MiB of text"
        }
        if size.elements > WireReader.maximumElements {
            return "it has more than \(WireReader.maximumElements) tests, findings, lines and files"
        }
        let all = written + size
        if all.bytes > Self.maximumBytes {
            return "with it, the tests and findings of the job have more than \(Self.maximumBytes >> 20) MiB of text"
        }
        if all.elements > Self.maximumElements {
            return "with it, the job has more than \(Self.maximumElements) tests, findings, lines and files"
        }
        return nil
    }

    private mutating func endStep() -> [UInt8] {
        endFile()
        guard var step else { return [] }
        self.step = nil
        var console = step.console?.finish() ?? ConsoleContent()
        step.console = nil
        if step.subject.contains(.testList) { listed = console.listed }
        var writer = step.writer
        let before = writer.size
        writer.beginPart()
        writer.add(console)
        if let why = excess(of: writer.size - before) {
            writer.truncate(to: before)
            console = ConsoleContent()
            console.problems = [ConsoleContent.unreadable(why)]
            writer.add(console)
        }
        written = written + (writer.size - before)
        return ReadingAnswer.step(step.number, reports: step.reports, writer.bytes)
    }
}
