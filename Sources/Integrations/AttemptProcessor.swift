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
        /// The filter that the tests were chosen by, where no attempt before says what came of the others.
        package var filterAlone: String?
        /// The report files that the recipe says a test command writes, by the step's name.
        package var askedReports: [String: [String]]
        /// Where the job's programs were looked for; nothing when unknown.
        package var path: String?
        /// The SHA-256 of a file of the workspace, in hexadecimal; nothing when there is none.
        package var digest: @Sendable (_ path: String) -> String?
    }

    /// How much of a log is in memory at one time, in bytes.
    static let chunkBytes = 256 * 1024

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
        var context = context
        context.path = job.environment["PATH"]
        var reading = AttemptReading(plan: context.plan, ends: ends)
        let parts = try attempt.logParts()
        let lastBuild = job.steps.indices.last {
            job.steps[$0].step == JobStep.building.rawValue && job.steps[$0].name != JobPlanner.resolveStep
                && ends.steps[$0] != nil
        }
        let lastTest = job.steps.lastIndex { $0.step == JobStep.testing.rawValue }
        for (number, step) in job.steps.enumerated() {
            guard let end = ends.steps[number], let kind = JobStep(rawValue: step.step) else { continue }
            let files = try attempt.reports(ofStep: number)
            let contents = try files.map { file in
                ReportReader.read(
                    try attempt.read(file, limit: Self.maximumReportBytes), fileName: file.path, root: root)
            }
            var console = StepConsole(
                step: step, kind: kind, root: root, listed: reading.listed,
                hasEvents: contents.contains { !$0.tests.isEmpty })
            for part in parts where part.step == number {
                try attempt.forEachChunk(of: part.range, bytes: Self.chunkBytes) { console.take($0) }
            }
            console.finish()
            reading.add(
                step: step, kind: kind, end: end, console: console,
                reports: StepReports(contents, paths: files.map(\.path), of: step, kind: kind, context: context),
                context: context)
            if number == lastBuild { try reading.endBuild(context: context, memory: memory) }
            if number == lastTest { reading.endTests(context: context) }
        }
        return reading
    }
}
