import Glibc
import JobProtocol

/// The reports that a job's steps leave, within one limit for all of them. Those of a step are copied directly after it: a later one with
/// a pattern that matches them deletes them before it begins, and may write others under their names.
struct JobReports {
    private let job: JobDescription
    private let workspace: Tree
    private let attempt: Tree
    private let redactor: LogRedactor
    private let signals: Signals

    private var bytes: Int64 = 0
    private var files = 0
    /// What was not copied as it should be, in its order.
    private(set) var shortfalls: [Shortfall] = []

    /// As of a `Collector`.
    struct Shortfall {
        var limit: String?
        var problem: String?
    }

    init(of job: JobDescription, in workspace: Tree, to attempt: Tree, redactor: LogRedactor, signals: Signals) {
        self.job = job
        self.workspace = workspace
        self.attempt = attempt
        self.redactor = redactor
        self.signals = signals
    }

    /// Last week's report is no report: what a step's patterns match is deleted before its command begins.
    /// - Returns: Why one may be left, which would be taken for the step's; nothing when none is.
    func deleteOld(ofStep index: Int) -> String? {
        let patterns = job.steps[index].report.compactMap { PathPattern($0) }
        guard !patterns.isEmpty else { return nil }
        var failure: String?
        // What cannot be read, or is beyond the walk's limit, is not collected either.
        _ = workspace.walk(patterns) { path, directory, name in
            if Tree.withPath(name, { Self.remove($0, in: directory) }) != 0 {
                failure = "\(String(decoding: path, as: UTF8.self)): \(SystemError(number: errno).text)"
            }
            return failure == nil
        }
        return failure.map { "an old report could not be deleted: \($0)" }
    }

    /// Tools protect what they wrote by their directory's mode.
    private static func remove(_ name: UnsafePointer<CChar>, in directory: Int32) -> Int32 {
        if unlinkat(directory, name, 0) == 0 || errno == ENOENT { return 0 }
        guard errno == EACCES, fchmod(directory, 0o755) == 0 else { return -1 }
        return unlinkat(directory, name, 0)
    }

    /// Once nothing of the step runs any more, and before the next begins: what is said of its files stands in its part of the log.
    mutating func collect(ofStep index: Int, log: inout JobLog) {
        let patterns = job.steps[index].report
        guard !patterns.isEmpty else { return }
        signals.read()
        // A canceled job's reports are still wanted, and it was the signal that canceled it.
        let isAlreadyStopped = signals.isTerminationRequested
        var collector = Collector(
            source: workspace, destination: attempt, place: "reports/\(index)", noun: "reports",
            byteLimit: job.limits.reportBytes, fileLimit: job.limits.files, bytes: bytes, files: files,
            redactor: redactor.isIdle ? nil : redactor,
            isStopped: { [signals] in
                signals.read()
                return !isAlreadyStopped && signals.isTerminationRequested
            })
        collector.collect(patterns)
        collector.tell(&log)
        (bytes, files) = (collector.bytes, collector.files)
        if collector.limit != nil || collector.problem != nil {
            shortfalls.append(Shortfall(limit: collector.limit, problem: collector.problem))
        }
    }
}
