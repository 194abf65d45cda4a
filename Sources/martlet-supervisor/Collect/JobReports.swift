import CLinux
import Glibc
import JobProtocol
import Processes
import Redaction

/// The reports of a job's steps, within one limit for all of them. A step's reports are copied directly after it. A later step whose pattern matches
/// them deletes them before it begins, and may write others with the same names.
struct JobReports {
    private let job: JobDescription
    private let workspace: Tree
    private let attempt: Tree
    private let redactor: LogRedactor
    private let signals: Signals
    /// The commit's files that match a pattern. They are a step's report only if the step has changed them, and are never deleted.
    private let tracked: Set<[UInt8]>

    private var bytes: Int64 = 0
    private var files = 0
    /// The limits and errors that kept files from being copied, in order.
    private(set) var shortfalls: [Shortfall] = []
    /// The files that were not copied, in order.
    private(set) var leftOut: [LeftOut] = []

    /// A limit or an error of a `Collector`.
    struct Shortfall {
        var limit: String?
        var problem: String?
    }

    /// The files that exist before a step and are no reports of it.
    struct Old {
        /// Files that stay, as they are before the step.
        fileprivate(set) var kept: [[UInt8]: FileIdentity] = [:]
        /// The reason why an old report may remain and would be mistaken for the step's; `nil` if none does.
        fileprivate(set) var failure: String?
    }

    /// - Parameter tracked: The paths of the file `tracked`, each followed by a NUL.
    init(
        of job: JobDescription, in workspace: Tree, to attempt: Tree, tracked: [UInt8], redactor: LogRedactor,
        signals: Signals
    ) {
        self.tracked = Set(tracked.split(separator: 0).map(Array.init))
        self.job = job
        self.workspace = workspace
        self.attempt = attempt
        self.redactor = redactor
        self.signals = signals
    }

    /// Deletes the files that match a step's patterns before its command begins, except the commit's own files. Reports of an earlier run would
    /// otherwise be taken for this step's.
    func deleteOld(ofStep index: Int) -> Old {
        let patterns = job.steps[index].report.compactMap { PathPattern($0) }
        var old = Old()
        guard !patterns.isEmpty else { return old }
        var links = LinkWalk(root: Array(job.mountedAt.utf8)) { [workspace] in workspace.entry($0) }
        // Files that cannot be read, or are beyond the walk's limit, are not collected either.
        _ = workspace.walk(patterns) { path, directory, name in
            // The target of a link is kept: the link of this step must lead to another file, or to other bytes.
            if case .file(let place) = links.end(of: path), place != path || tracked.contains(path) {
                old.kept[place] = identity(of: place)
            }
            guard !tracked.contains(path) else { return true }
            if Tree.withPath(name, { Self.remove($0, in: directory) }) != 0 {
                let reason = SystemError(number: errno).text
                old.failure = "an old report could not be deleted: \(String(decoding: path, as: UTF8.self)): \(reason)"
            }
            return old.failure == nil
        }
        return old
    }

    private func identity(of path: [UInt8]) -> FileIdentity? {
        guard case .success(let opened) = workspace.open(path, clinux_o_path | O_NOFOLLOW) else { return nil }
        defer { close(opened) }
        var status = stat()
        return fstat(opened, &status) == 0 ? FileIdentity(status) : nil
    }

    /// Deletes a file. Some tools protect their files with the mode of their directory, which is changed if necessary.
    private static func remove(_ name: UnsafePointer<CChar>, in directory: Int32) -> Int32 {
        if unlinkat(directory, name, 0) == 0 || errno == ENOENT { return 0 }
        guard errno == EACCES, fchmod(directory, 0o755) == 0 else { return -1 }
        return unlinkat(directory, name, 0)
    }

    /// Copies a step's reports. It must be called after the step's last process has ended and before the next step begins. Messages about its files
    /// are then in its part of the log.
    /// - Parameter old: The files that existed before the step.
    mutating func collect(ofStep index: Int, old: Old, log: inout JobLog) {
        let patterns = job.steps[index].report
        guard !patterns.isEmpty else { return }
        signals.read()
        // The reports of a canceled job are still collected, although the cancellation was a signal.
        let isAlreadyStopped = signals.isTerminationRequested
        var collector = Collector(
            source: workspace, destination: attempt, place: "reports/\(index)", noun: "reports",
            byteLimit: job.limits.reportBytes, fileLimit: job.limits.files, bytes: bytes, files: files,
            redactor: redactor.isIdle ? nil : redactor, links: .followed, mountedAt: job.mountedAt, old: old.kept,
            isStopped: { [signals] in
                signals.read()
                return !isAlreadyStopped && signals.isTerminationRequested
            })
        collector.collect(patterns)
        collector.tell(&log)
        (bytes, files) = (collector.bytes, collector.files)
        leftOut += collector.leftOut.map { LeftOut(step: index, text: redactor.masked($0)) }
        if collector.limit != nil || collector.problem != nil {
            shortfalls.append(Shortfall(limit: collector.limit, problem: collector.problem))
        }
    }
}
