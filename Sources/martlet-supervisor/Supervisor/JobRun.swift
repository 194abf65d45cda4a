import CLinux
import Glibc
import JobProtocol
import Processes
import Redaction

/// Runs a locked job: its steps in order, then the collection of its files.
struct JobRun {
    private static let defaultPath = "/usr/local/bin:/usr/bin:/bin"

    let paths: AttemptPaths
    let status: StatusFile
    let signals: Signals
    let readiness: Readiness
    /// Called while a step's process is being created, before its beginning is stored.
    let beginning: () -> Void

    /// Runs the job. It never throws: every error becomes the last event, which the caller writes.
    /// - Parameter description: The content of `job.json`, or the error of reading it.
    /// - Returns: The last event.
    func run(_ description: Result<JobDescription, JobProtocolError>, secrets: [String: String]) -> StatusEvent {
        defer { readiness.end() }
        let job: JobDescription
        switch description {
        case .failure(let error): return faulty("\(error)")
        case .success(let read): job = read
        }
        if let missing = missingSecret(job, secrets) { return faulty(missing) }
        guard case .success(let workspace) = Tree.open(job.workspace) else {
            return faulty("the workspace \(job.workspace) cannot be opened: \(SystemError(number: errno).text)")
        }
        guard case .success(let attempt) = Tree.open(paths.directory) else {
            return faulty("\(paths.directory) cannot be opened: \(SystemError(number: errno).text)")
        }
        var home: Tree?
        if let directory = job.sandbox?.homeDirectory {
            guard case .success(let opened) = Tree.open(directory) else {
                return faulty("the home \(directory) cannot be opened: \(SystemError(number: errno).text)")
            }
            home = opened
        }
        let group = readiness.group(job.limits)
        var sandbox: Sandbox?
        do throws(Sandbox.Failure) {
            sandbox = try job.sandbox.map { value throws(Sandbox.Failure) in
                try Sandbox(job: job, sandbox: value, workspace: workspace, attempt: paths.directory)
            }
        } catch {
            return faulty("the sandbox could not be made: \(error.reason)")
        }
        let redactor = LogRedactor(secrets: secrets.values)
        var log = JobLog(paths: paths, limit: job.limits.logBytes, redactor: redactor)
        let start = StepStart(limits: job.limits, workspace: workspace, sandbox: sandbox, group: group)
        var reports = JobReports(
            of: job, in: workspace, to: attempt,
            tracked: SmallFile.read(paths.tracked, limit: Self.trackedLimit) ?? [], redactor: redactor, signals: signals
        )
        var ending = runSteps(
            of: job, in: workspace, home, start, secrets: secrets, reports: &reports, log: &log)
        for shortfall in reports.shortfalls { obey(shortfall.limit, shortfall.problem, &ending) }
        clinux_failpoint("job.collected", "before")
        let unpacked = collect(from: job, workspace: workspace, attempt: attempt, ending: &ending, log: &log)
        // Files missing from the artifacts first, because the list must contain all of them even if it leaves out reports.
        let leftOut = unpacked.map { LeftOut(step: nil, text: redactor.masked($0)) } + reports.leftOut
        if let failure = write(leftOut, to: attempt), ending.result != .faulty {
            return faulty("writing \(paths.leftOut) failed: \(failure.text)")
        }
        clinux_failpoint("job.collected", "after")
        log.end()
        // The first failure is the reason.
        if log.failure != 0, ending.result != .faulty {
            return faulty("writing the log failed: \(SystemError(number: log.failure).text)")
        }
        return .finished(
            at: Time.wallMilliseconds(), result: ending.result, reason: ending.reason, limit: ending.limit,
            step: ending.step)
    }

    /// The most bytes of paths that a checkout may have (`TreeListing.maximumPathBytes`), with a NUL each.
    private static let trackedLimit = 520 << 20

    /// Writes the list before the job's last event, which states that everything is complete.
    private func write(_ leftOut: [LeftOut], to attempt: Tree) -> SystemError? {
        guard !leftOut.isEmpty else { return nil }
        switch attempt.open(Array("left-out".utf8), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o644) {
        case .failure(let error): return error
        case .success(let file):
            defer { close(file) }
            let failure = Descriptor.writeAll(LeftOut.file(leftOut), to: file)
            guard failure == 0 else { return SystemError(number: failure) }
            return fdatasync(file) == 0 ? nil : SystemError(number: errno)
        }
    }

    private struct Ending {
        var result: StatusEvent.Outcome = .completed
        var reason: String?
        var limit: String?
        var step: Int?
    }

    private func faulty(_ reason: String) -> StatusEvent {
        .finished(at: Time.wallMilliseconds(), result: .faulty, reason: reason, limit: nil, step: nil)
    }

    private func missingSecret(_ job: JobDescription, _ secrets: [String: String]) -> String? {
        let wanted = job.secrets + job.steps.flatMap(\.secrets)
        if let missing = wanted.first(where: { secrets[$0] == nil }) { return "the secret \(missing) was not given" }
        guard secrets.values.reduce(0, { $0 + $1.utf8.count }) <= LogRedactor.secretsLimit else {
            return "the secrets are larger than \(Words.size(Int64(LogRedactor.secretsLimit)))"
        }
        return nil
    }

    /// Returns the request to cancel the job; `nil` if there is none.
    private func cancelRequest() -> CancelRequest? {
        guard let bytes = SmallFile.read(paths.cancel, limit: CancelRequest.sizeLimit + 1) else { return nil }
        do throws(JobProtocolError) {
            return try CancelRequest(json: bytes)
        } catch {
            return CancelRequest(reason: "canceled; its reason cannot be read", graceMilliseconds: 10_000)
        }
    }

    /// Returns whether the job must end before the next step.
    private func stop(_ ending: inout Ending, step: Int) -> Bool {
        signals.read()
        if let request = cancelRequest() {
            (ending.result, ending.reason, ending.step) = (.canceled, request.reason, step)
            return true
        }
        guard signals.isTerminationRequested else { return false }
        (ending.result, ending.reason, ending.step) = (.interrupted, "the machine is stopping", step)
        return true
    }

    private func runSteps(
        of job: JobDescription, in workspace: Tree, _ home: Tree?, _ start: StepStart, secrets: [String: String],
        reports: inout JobReports, log: inout JobLog
    ) -> Ending {
        var ending = Ending()
        let watch = LimitWatch(
            limits: job.limits, group: start.group, isSandboxed: start.sandbox != nil, workspace: workspace,
            home: home)
        for (index, step) in job.steps.enumerated() {
            if stop(&ending, step: index) { return ending }
            log.begin(step: index)
            // The event is stored while the step's process is created, and the process waits for it.
            let event = StatusEvent.started(step: index, at: Time.wallMilliseconds())
            let begun = status.begin(event)
            var noted: Int32?
            var old = JobReports.Old()
            let earlier = reports
            let begins = {
                if noted == nil {
                    beginning()
                    noted = status.finishBegun(event, begun)
                    if noted == 0 { old = earlier.deleteOld(ofStep: index) }
                }
                return noted == 0 && old.failure == nil
            }
            let end = run(step, of: job, start, watch, secrets: secrets, log: &log, begins: begins)
            // Also for a step whose process could not be created.
            guard begins() else {
                // A step whose beginning is not stored must have no effects.
                ending.result = .faulty
                ending.reason =
                    old.failure ?? "writing in \(paths.directory) failed: \(SystemError(number: noted ?? 0).text)"
                if let failure = old.failure { log.say(failure) }
                ending.step = index
                return ending
            }
            var failure: Int32 = 0
            let ended = StatusEvent.ended(
                step: index, at: Time.wallMilliseconds(), exit: end.exit, signal: end.signal, limit: end.limit,
                usage: end.usage)
            // A command that never ran has no end.
            if end.exit != nil || end.signal != nil { failure = status.append(ended) }
            if failure == 0, log.failure == 0, !end.isStuck, end.fault == nil {
                reports.collect(ofStep: index, old: old, log: &log)
            }
            if failure == 0 { failure = log.failure }
            if failure != 0 || end.isStuck || end.fault != nil {
                ending.result = .faulty
                ending.reason =
                    end.isStuck
                    ? "a process of \(step.name) could not be ended"
                    : end.fault ?? "writing in \(paths.directory) failed: \(SystemError(number: failure).text)"
                ending.step = index
                return ending
            }
            if stop(&ending, step: index) { return ending }
            // The log's limit applies to the whole job, so a step that reaches it ends the job: later output would be dropped.
            if !end.isSuccess && step.isRequired || log.isFull {
                (ending.result, ending.step) = (.failed, index)
                ending.limit = end.limit ?? (log.isFull ? log.limitWords : nil)
                ending.reason = ending.limit ?? Self.reason(of: end, step)
                return ending
            }
        }
        return ending
    }

    private static func reason(of end: StepRun.End, _ step: JobDescription.Step) -> String {
        if let signal = end.signal { return "\(step.name) was ended by \(SignalName.of(signal))" }
        return "\(step.name) exited with \(end.exit ?? 0)"
    }

    private func run(
        _ step: JobDescription.Step, of job: JobDescription, _ start: StepStart, _ watch: LimitWatch,
        secrets: [String: String], log: inout JobLog, begins: () -> Bool
    ) -> StepRun.End {
        var environment = ["PATH": Self.defaultPath]
        environment.merge(job.environment) { $1 }
        environment.merge(step.environment) { $1 }
        for name in step.secrets { environment[name] = secrets[name] }
        var run = StepRun(
            step: step, environment: environment, graceMilliseconds: job.limits.graceMilliseconds, signals: signals,
            watch: watch, cancel: cancelRequest)
        return run.run(start, log: &log, begins: begins)
    }

    /// Copies the artifacts of a completed job. A job that did not complete may have another job's artifacts in its workspace.
    /// - Returns: The files that were not copied.
    private func collect(
        from job: JobDescription, workspace: Tree, attempt: Tree, ending: inout Ending, log: inout JobLog
    ) -> [String] {
        guard ending.result == .completed, !job.collect.isEmpty else { return [] }
        var collector = Collector(
            source: workspace, destination: attempt, place: "artifacts", noun: "artifacts",
            byteLimit: job.limits.fileBytes, fileLimit: job.limits.files, links: .kept,
            mountedAt: job.mountedAt,
            isStopped: { [signals] in
                signals.read()
                return signals.isTerminationRequested
            })
        for item in job.collect where collector.limit == nil && collector.problem == nil {
            collector.collect(item.patterns, base: item.base)
        }
        collector.tell(&log)
        obey(collector.limit, collector.problem, &ending)
        if ending.result == .completed { _ = stop(&ending, step: job.steps.count - 1) }
        return collector.leftOut
    }

    /// Records a limit or an error of copying. It fails a completed job; a job that has already failed keeps its reason.
    private func obey(_ limit: String?, _ problem: String?, _ ending: inout Ending) {
        guard ending.result != .faulty else { return }
        if let limit {
            if ending.result == .completed { ending.result = .failed }
            ending.limit = ending.limit ?? limit
            ending.reason = ending.reason ?? limit
        }
        if let problem {
            if ending.result == .completed { ending.result = .faulty }
            ending.reason = ending.reason ?? problem
        }
    }
}
