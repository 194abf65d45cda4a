package import Execution
import JobProtocol
package import Model
package import Redaction
import Reports

/// Reads the files that a finished attempt left, and computes its results. It has no side effect but to read the attempt's directory and to store
/// warnings.
package struct AttemptProcessor: Sendable {
    /// The facts about the integration that the job's directory does not contain.
    package struct Context: Sendable {
        package var configuration: Name
        package var plan: JobPlanner.Plan
        /// The number of tests of the same configuration in the branch's previous integration; `nil` if unknown.
        package var previousTests: Int?
        /// Whether an attempt without a test gets a warning. It gets no warning if the recipe says `test: none`, if its kind of project has no
        /// tests and other kinds beside it are tested, and in a rerun of some tests.
        package var expectsTests = true
        /// The test commands of the project's own CI, which that warning names.
        package var ownCommands: [ProjectTree.OwnCommand] = []
        /// The filter that the tests were chosen by, if no earlier attempt has results of the other tests.
        package var filterAlone: String?
        /// The report files that the recipe says a test command writes, by the step's name.
        package var askedReports: [String: [String]]
        /// The `PATH` in which the job's programs were looked up; `nil` if unknown.
        package var path: String?
        /// Masks the job's secrets; `nil` if it has none.
        package var masking: LogRedactor?
        /// Returns the SHA-256 of a file of the workspace, in hexadecimal; `nil` if there is no such file.
        package var digest: @Sendable (_ path: String) -> String?
        /// The service's own paths, which no hint recommends to show.
        var hidden = HiddenPaths.none
    }

    private let reader: ReaderProgram
    private let stop: ReaderProgram.Stop

    /// - Parameters:
    ///   - reader: Reads the reports and the log, whose bytes are the job's.
    ///   - stop: Ends the reading from another thread.
    package init(reader: ReaderProgram, stop: ReaderProgram.Stop = .init()) {
        (self.reader, self.stop) = (reader, stop)
    }

    /// Reads the attempt's results. Blocks while it reads, so it must be called on a serial queue.
    /// - Throws: `ExecutionError` if the directory cannot be read or the reader cannot be started, `CancellationError` after `stop`, `FileError` if
    ///   the warnings cannot be stored.
    package func read(
        _ attempt: AttemptDirectory, context: Context, warnings: WarningCache?
    ) throws -> AttemptReading {
        let job = try attempt.job()
        let ends = StepEnds(try attempt.status())
        let root = SourceRoot(mountedAt: job.mountedAt)
        var context = context
        context.path = job.environment["PATH"]
        var reading = AttemptReading(plan: context.plan, ends: ends)
        let parts = try attempt.logParts()
        let leftOut = try attempt.leftOut()
        let lastBuild = job.steps.indices.last {
            job.steps[$0].step == JobStep.building.rawValue && job.steps[$0].name != JobStep.resolve
                && ends.steps[$0] != nil
        }
        let lastTest = job.steps.lastIndex { $0.step == JobStep.testing.rawValue }
        var inputs: [StepReading.Input] = []
        for (number, step) in job.steps.enumerated() {
            guard ends.steps[number] != nil, let kind = JobStep(rawValue: step.step) else { continue }
            inputs.append(
                .init(
                    number: number, subject: StepSubject(step, kind: kind),
                    files: try attempt.reports(ofStep: number),
                    console: parts.filter { $0.step == number && !$0.range.isEmpty }.map(\.range)))
        }
        var contents = try StepReading.read(inputs, of: attempt, root: root, with: reader, stop: stop)
        for input in inputs {
            let (number, step) = (input.number, job.steps[input.number])
            guard let end = ends.steps[number], let kind = JobStep(rawValue: step.step) else { continue }
            var content = contents.removeValue(forKey: number) ?? StepContent()
            if let masking = context.masking, !masking.isIdle { content = masking.masked(content) }
            let hint = try self.hint(of: step, end, input, attempt, isSandboxed: job.isolation == .sandbox, context)
            reading.add(
                step: step, kind: kind, end: end, console: content.console,
                reports: StepReports(
                    content.reports, paths: input.files.map(\.path),
                    leftOut: leftOut.filter { $0.step == number }.map(\.text), of: step, kind: kind, context: context),
                hint: hint.map { context.masking?.masked($0) ?? $0 }, context: context)
            if number == lastBuild { try reading.endBuild(context: context, warnings: warnings) }
            if number == lastTest { reading.endTests(context: context) }
        }
        if lastTest == nil { reading.endTests(context: context) }
        return reading
    }

    /// Returns why a step failed, read from the end of its output. `nil` if the step succeeded or its output does not state a reason.
    private func hint(
        of step: JobDescription.Step, _ end: CommandEnd, _ input: StepReading.Input, _ attempt: AttemptDirectory,
        isSandboxed: Bool, _ context: Context
    ) throws -> String? {
        let isResolving = step.step == JobStep.building.rawValue && step.name == JobStep.resolve
        guard !end.isSuccess, end.limit == nil, isSandboxed || isResolving, let range = input.console.last else {
            return nil
        }
        let start = max(range.lowerBound, range.upperBound - Int64(SandboxHint.tailBytes))
        let tail = try attempt.readLog(from: start, count: Int(range.upperBound - start))
        let hints = [
            isResolving ? ResolveFailure.find(in: tail)?.sentence : nil,
            isSandboxed
                ? SandboxHint.find(in: tail, of: step, home: JobIsolation.home, own: context.hidden) : nil,
        ].compactMap(\.self)
        return hints.isEmpty ? nil : hints.joined(separator: ". ")
    }
}

extension AttemptDirectory {
    /// Returns the parts of the log, in its order, each with the number of the step that wrote it and its range in bytes. The log's index tells the
    /// steps apart. It is read in pages of 4096 records, because a job that prints a little all day has some millions of them.
    /// - Throws: `.directory`.
    func logParts() throws(ExecutionError) -> [(step: Int, range: Range<Int64>)] {
        var parts: [(step: Int, range: Range<Int64>)] = []
        var position = 0
        while true {
            let page = try readIndex(from: position, limit: 4096)
            for record in page {
                let offset = Int64(clamping: record.offset)
                if let last = parts.last {
                    if last.step == Int(record.step) { continue }
                    parts[parts.count - 1].range = last.range.lowerBound..<max(last.range.lowerBound, offset)
                }
                parts.append((Int(record.step), offset..<offset))
            }
            guard !page.isEmpty else { break }
            position += page.count
        }
        if let last = parts.last {
            parts[parts.count - 1].range = last.range.lowerBound..<max(last.range.lowerBound, logSize)
        }
        return parts
    }
}
