package import Execution
import JobProtocol
package import Model
import Reports

/// Reads what a finished attempt left, and says what it came to. Pure but for reading the attempt's directory.
package struct AttemptProcessor: Sendable {
    /// What the integration knows that the job's directory does not.
    package struct Context: Sendable {
        package var configuration: Name
        package var plan: JobPlanner.Plan
        /// How many tests the same configuration had in the branch's integration before.
        package var previousTests: Int?
        /// The report files that the recipe says the test command writes; nothing when it names none.
        package var askedReports: [String]?
        /// The SHA-256 of a file of the workspace, in hexadecimal; nothing when there is none.
        package var digest: @Sendable (_ path: String) -> String?
    }

    /// The most bytes of one step's log that are read for diagnostics; more is cut at its beginning, since a tool's
    /// summary stands at its end. In bytes; the log itself has the same cap by default.
    static let maximumLogBytes = 64 * 1024 * 1024

    /// A larger report file is refused. In bytes.
    static let maximumReportBytes = 64 * 1024 * 1024

    package init() {}

    /// Blocks while it reads; call it on a lane.
    /// - Throws: `ExecutionError` when the directory cannot be read, `FileError` when the warnings cannot be remembered.
    package func read(
        _ attempt: AttemptDirectory, context: Context, memory: WarningMemory?
    ) throws -> AttemptReading {
        let job = try attempt.job()
        let ends = StepEnds(try attempt.status())
        let root = SourceRoot(mountedAt: job.mountedAt)
        var reading = AttemptReading(plan: context.plan, ends: ends)
        let index = try attempt.wholeIndex()
        let size = attempt.logSize
        for (number, step) in job.steps.enumerated() {
            guard let end = ends.steps[number], let kind = JobStep(rawValue: step.step) else { continue }
            let log = try attempt.log(ofStep: number, index: index, size: size, limit: Self.maximumLogBytes)
            let contents = try attempt.reports(ofStep: number).map { file in
                ReportReader.read(
                    try attempt.read(file, limit: Self.maximumReportBytes), fileName: file.path, root: root)
            }
            reading.add(
                step: step, kind: kind, end: end, log: log, reports: contents, root: root, context: context,
                memory: memory)
        }
        if let memory, reading.hasBuilt { try memory.remember(reading.buildFindings, digest: context.digest) }
        return reading
    }
}

extension AttemptDirectory {
    /// Every record of the log's index. A log of 64 MiB in chunks of a few bytes has some millions.
    func wholeIndex() throws(ExecutionError) -> [LogIndexRecord] {
        var records: [LogIndexRecord] = []
        while true {
            let page = try readIndex(from: records.count)
            guard !page.isEmpty else { return records }
            records += page
        }
    }

    /// What one step printed, the last `limit` bytes of it. Chunks are told apart by the log's index.
    func log(
        ofStep number: Int, index records: [LogIndexRecord], size: Int64, limit: Int
    ) throws(ExecutionError) -> [UInt8] {
        var bytes: [UInt8] = []
        for (position, record) in records.enumerated() where Int(record.step) == number {
            let end = position + 1 < records.count ? Int64(records[position + 1].offset) : size
            var offset = Int64(record.offset)
            while offset < end {
                let chunk = try readLog(from: offset, count: Int(end - offset))
                guard !chunk.isEmpty else { break }
                bytes += chunk
                offset += Int64(chunk.count)
            }
        }
        return bytes.count > limit ? Array(bytes.suffix(limit)) : bytes
    }
}
