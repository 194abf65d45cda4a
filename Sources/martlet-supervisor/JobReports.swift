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
