import Execution
import Glibc
import JobProtocol
import Model
import Reports

/// Reads the report files and the output of an attempt's steps with `martlet-reader`.
///
/// One process reads all files of an attempt. If it crashes on a file, that file counts as unreadable, with the reason, and another process reads the
/// rest. No process is started for an attempt without files and output.
struct StepReading {
    /// The report files and the output of a step.
    struct Input {
        var number: Int
        var subject: StepSubject
        var files: [AttemptDirectory.File]
        /// The ranges of the log with the step's output, in bytes.
        var console: [Range<Int64>]
    }

    /// The most files or outputs of an attempt that may crash the reader before the rest is not read, either.
    static let maximumFailures = 3

    private let program: ReaderProgram
    private let stop: ReaderProgram.Stop
    private let attempt: AttemptDirectory
    private let root: SourceRoot
    /// The reasons why items are not read.
    private var refused: [ReadingAnswer.Item: String] = [:]

    init(
        _ program: ReaderProgram, stop: ReaderProgram.Stop, _ attempt: AttemptDirectory, root: SourceRoot
    ) {
        self.program = program
        self.stop = stop
        self.attempt = attempt
        self.root = root
    }

    /// Reads the files of all steps. Blocks while it reads.
    /// - Returns: The contents, by the steps' numbers. Empty if there are no files and no output.
    /// - Throws: `ExecutionError` if the attempt's directory cannot be read or the reader cannot be started. A file that crashes the reader is not an
    ///   error; its content states the problem.
    static func read(
        _ inputs: [Input], of attempt: AttemptDirectory, root: SourceRoot, with program: ReaderProgram,
        stop: ReaderProgram.Stop
    ) throws -> [Int: StepContent] {
        let inputs = inputs.map { input in
            var input = input
            if input.subject.isEmpty { input.console = [] }
            return input
        }
        guard inputs.contains(where: { !$0.files.isEmpty || !$0.console.isEmpty }) else { return [:] }
        var reading = StepReading(program, stop: stop, attempt, root: root)
        for _ in 0...maximumFailures {
            if let contents = try reading.tryAll(inputs) { return contents }
        }
        reading.refuseRest(inputs, "the reader did not survive \(reading.refused.count) others of this job")
        return reading.completed([:], inputs)
    }

    /// Reads everything once.
    /// - Returns: `nil` if the reader crashed. `refused` then contains the item that the next try must not read.
    private mutating func tryAll(_ inputs: [Input]) throws -> [Int: StepContent]? {
        var answer = ReadingAnswer(asked: inputs.reduce(into: [:]) { $0[$1.number] = $1.files.count })
        var pieces = Pieces(of: attempt, records(for: inputs))
        var wrong: WireError?
        var outcome: ReaderProgram.Outcome?
        do {
            outcome = try program.run(
                stop: stop, feed: { try pieces.next(into: &$0) },
                take: { bytes throws in try answer.consume(bytes) })
        } catch let error as WireError {
            wrong = error
        }
        if answer.isWhole, wrong == nil { return completed(answer.steps, inputs) }
        let reason =
            wrong.map { "the reader's answer is invalid: \($0)" } ?? outcome.map { Self.reason($0, program.limits) }
            ?? ""
        guard let item = answer.begun else {
            throw ExecutionError(.notStarted, "read what the job left with \(program.path)", reason)
        }
        guard refused[item] == nil, inputs.contains(where: { Self.items(of: $0).contains(item) }) else {
            // The reader crashes on every file, or a file has taken it over.
            refuseRest(inputs, reason)
            return completed([:], inputs)
        }
        refused[item] = reason
        return nil
    }

    private mutating func refuseRest(_ inputs: [Input], _ reason: String) {
        for item in inputs.flatMap(Self.items) where refused[item] == nil { refused[item] = reason }
    }

    /// Returns why the reader ended, as the rest of a sentence.
    static func reason(_ outcome: ReaderProgram.Outcome, _ limits: ReaderProgram.Limits) -> String {
        // The message of Swift's runtime: "failed to allocate 20000096 bytes of memory".
        let isFull = ["failed to allocate", "ould not allocate"].contains { outcome.complaint.contains($0) }
        switch outcome.end {
        case .late: return "reading it took longer than \(limits.patience.components.seconds) s"
        case .signaled(SIGXCPU):
            return "reading it took more than \(limits.processor.components.seconds) s of processor time"
        case .signaled where isFull, .exited where isFull:
            return "reading it took more than \(limits.memory >> 20) MiB of memory"
        case .signaled(SIGKILL): return "the machine ended the reader (SIGKILL), perhaps for lack of memory"
        case .signaled(let signal): return "the reader ended by \(SignalName.text(Int(signal)))"
        case .exited(let status):
            let said = outcome.complaint.prefix { !$0.isNewline }
            return "the reader ended with exit status \(status)" + (said.isEmpty ? "" : ": \(said)")
        }
    }

    private static func items(of input: Input) -> [ReadingAnswer.Item] {
        (0...input.files.count).map { ReadingAnswer.Item(step: input.number, item: $0) }
    }

    // MARK: The request to the reader

    /// Returns the records of the request. Refused items are replaced by empty ones, so that the reader's numbers match.
    private func records(for inputs: [Input]) -> [Pieces.Record] {
        var records: [Pieces.Record] = [.bytes(ReadingRequest.root(root))]
        for input in inputs {
            records.append(.bytes(ReadingRequest.step(input.number, input.subject)))
            for (index, file) in input.files.enumerated() {
                let isRefused = refused[.init(step: input.number, item: index)] != nil
                records.append(isRefused ? .bytes(ReadingRequest.report("", size: 0)) : .report(file))
            }
            if refused[.init(step: input.number, item: input.files.count)] == nil {
                records += input.console.map { .console($0) }
            }
            records.append(.bytes(ReadingRequest.stepEnd))
        }
        return records + [.bytes(ReadingRequest.end)]
    }

    /// Returns the contents with the reasons for the refused items in their places.
    private func completed(_ contents: [Int: StepContent], _ inputs: [Input]) -> [Int: StepContent] {
        var contents = contents
        for input in inputs {
            var content = contents[input.number] ?? StepContent()
            // A reader that was taken over may have returned fewer.
            let missing = input.files.count - content.reports.count
            content.reports += input.files.suffix(missing).map {
                ReportContent.unreadable("it was not read", fileName: $0.path)
            }
            for (index, file) in input.files.enumerated() {
                guard let why = refused[.init(step: input.number, item: index)] else { continue }
                content.reports[index] = .unreadable(why, fileName: file.path)
            }
            if let why = refused[.init(step: input.number, item: input.files.count)], !input.console.isEmpty {
                content.console.problems.append(ConsoleContent.unreadable(why))
            }
            contents[input.number] = content
        }
        return contents
    }
}

/// Produces the bytes of a request on demand, so that only one piece of a file or a log is in memory.
private struct Pieces {
    enum Record {
        case bytes([UInt8])
        case report(AttemptDirectory.File)
        case console(Range<Int64>)
    }

    private let attempt: AttemptDirectory
    private var records: ArraySlice<Record>
    private var file: AttemptDirectory.OpenFile?
    private var log: AttemptLog?
    /// The part of the log that is still to be read for the record; `nil` if there is none.
    private var range: Range<Int64>?

    init(of attempt: AttemptDirectory, _ records: [Record]) {
        self.attempt = attempt
        self.records = records[...]
    }

    /// Appends the next bytes of the request.
    /// - Returns: False if there are no more.
    mutating func next(into bytes: inout [UInt8]) throws -> Bool {
        while bytes.count < ReadingRequest.pieceBytes {
            if let file {
                let piece = try file.read(ReadingRequest.pieceBytes)
                if piece.isEmpty { self.file = nil } else { bytes += ReadingRequest.bytes(piece) }
            } else if let range {
                let count = Int(min(Int64(ReadingRequest.pieceBytes), Int64(range.count)))
                let piece = count == 0 ? [] : try log?.read(at: range.lowerBound, count: count) ?? []
                self.range = piece.isEmpty ? nil : range.lowerBound + Int64(piece.count)..<range.upperBound
                if !piece.isEmpty { bytes += ReadingRequest.console(piece) }
            } else {
                guard let record = records.popFirst() else { return !bytes.isEmpty }
                try begin(record, &bytes)
            }
        }
        return true
    }

    private mutating func begin(_ record: Record, _ bytes: inout [UInt8]) throws {
        switch record {
        case .bytes(let record): bytes += record
        case .console(let part):
            if log == nil { log = try AttemptLog.open(in: attempt.path) }
            range = part
        case .report(let listed):
            let opened = try attempt.open(listed)
            bytes += ReadingRequest.report(listed.path, size: Int(opened.size))
            if opened.size <= Int64(ReportReader.maximumBytes) { file = opened }
        }
    }
}

extension StepSubject {
    /// Determines what the output of a step is searched for.
    init(_ step: JobDescription.Step, kind: JobStep) {
        self = []
        // Such a step is a default command with a script.
        if step.arguments.count > 3, step.arguments[2].hasPrefix(ProjectProfile.Command.prelude) { insert(.words) }
        switch kind {
        case .analyzing:
            if JobPlanner.isClangStep(step) { insert(.lines) }
            if step.report.isEmpty { insert(.analysis) }
        case .building: insert(.build)
        case .testing where step.name == JobStep.list: formUnion([.lines, .testList])
        case .testing: insert(.tests)
        case .archiving, .checkout, .processing: break
        }
    }
}

extension ConsoleContent {
    /// The missing program that kept the service's own command from starting; `nil` if it started.
    func missingProgram(_ step: JobDescription.Step, _ end: CommandEnd) -> String? {
        guard end.exit == 127 else { return nil }
        if let missing { return missing }
        // The command was started without a shell, such as `swift` or `make`. So the status is not that of a command within a script.
        guard let program = step.arguments.first, !program.contains("/") else { return nil }
        return program
    }
}
