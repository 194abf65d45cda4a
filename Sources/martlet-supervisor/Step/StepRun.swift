import CLinux
import Glibc
import JobProtocol
import Processes

/// Runs one step, from its first process to its last.
struct StepRun {
    /// How long to wait for output after the step's main process has ended, while other processes still hold the pipe open.
    static let lingerMilliseconds: Int64 = 500
    /// How often processes that were asked to end are checked.
    private static let lookMilliseconds: Int64 = 50
    /// How long the last processes may take to end by themselves. The kernel needs about 3 ms to remove a sandbox's namespaces.
    private static let sandboxMilliseconds: Int64 = 10
    /// After this many rounds of killing processes one by one, the control group kills the rest. Most steps leave nothing to kill but the sandbox,
    /// which is about to end.
    private static let patientRounds = 10
    /// The most bytes kept of the report pipe: bubblewrap writes one line.
    private static let reportLimit = 16 * 1024

    struct End {
        var exit: Int32?
        var signal: Int32?
        var limit: String?
        var usage = StatusEvent.Usage()
        /// Whether a process survived SIGKILL.
        var isStuck = false
        /// The reason why the step was not run or was interrupted, if it is not the step's fault.
        var fault: String?

        var isSuccess: Bool { exit == 0 && limit == nil }

        /// The signal that ended the main process or its child. A shell reports a signal as the status 128 plus its number (POSIX, Shell Command
        /// Language 2.8.2). Only the status for a file that grew too large is treated so, because programs also use the others as ordinary statuses.
        var deadlySignal: Int32? { exit == 128 + SIGXFSZ ? SIGXFSZ : signal }
    }

    let step: JobDescription.Step
    let environment: [String: String]
    let graceMilliseconds: Int64
    let signals: Signals
    let watch: LimitWatch
    /// Returns the request to cancel; called after a signal.
    let cancel: () -> CancelRequest?

    private var started: StepStart.Started?
    private var end = End()
    private var hasEnded = false
    /// The time when everything is killed; `nil` as long as the step was not asked to end.
    private var killAt: Int64?
    private var lingerUntil: Int64?
    /// The bytes received through the sandbox's report pipe.
    private var report: [UInt8] = []
    /// The place that a failed command in the sandbox had filled, in words.
    private var full: String?

    init(
        step: JobDescription.Step, environment: [String: String], graceMilliseconds: Int64, signals: Signals,
        watch: LimitWatch, cancel: @escaping () -> CancelRequest?
    ) {
        self.step = step
        self.environment = environment
        self.graceMilliseconds = graceMilliseconds
        self.signals = signals
        self.watch = watch
        self.cancel = cancel
    }

    /// Runs the step.
    /// - Parameter begins: Called at most once, before the command begins. It returns whether the command may begin.
    mutating func run(_ start: StepStart, log: inout JobLog, begins: () -> Bool) -> End {
        watch.begin(now: Time.monotonicMilliseconds())
        let output: Int32
        switch start.start(step, environment: environment, begins: begins) {
        case .failure(let error):
            // Kills the processes that were to run the command.
            end.isStuck = !Descendants.killAll().isEmpty
            return notStarted(error, &log)
        case .success(let started):
            self.started = started
            output = started.output
            report = started.said
            watch.sparing = Set([started.network?.process].compactMap(\.self))
        }
        log.open()
        follow(output, log: &log)
        // Before the supervisor itself makes forks fail and kills processes.
        let finding = end.limit == nil && end.fault == nil ? watch.lookAtMainEnd() : nil
        var rounds = 0
        // The sandbox of a step that ended by itself is about to end.
        let patience = killAt == nil ? Self.sandboxMilliseconds : 0
        let (ended, isEmpty) = Descendants.killAll(after: patience, wokenBy: signals.descriptor) {
            signals.read()
            rounds += 1
            if rounds == Self.patientRounds { start.killAll() }
            drain(output, into: &log)
        }
        take(ended)
        takeReport(isLast: true, &log)
        drain(output, into: &log)
        close(output)
        if let report = started?.report { close(report) }
        end.isStuck = !isEmpty
        if end.limit == nil, let finding = finding ?? watch.lookAtEnd(signal: end.deadlySignal) { note(finding, &log) }
        if end.limit == nil, end.fault == nil, let full { note(.limit(full), &log) }
        if killAt == nil, end.limit == nil, end.fault == nil, !end.isSuccess, let words = watch.fullDiskWords {
            note(.fault(words), &log)
        }
        log.endStep()
        return end
    }

    /// Reports a step that was not started. The exit status is that of a shell: 127 if the command does not exist, 126 if it cannot be executed
    /// (POSIX, Shell Command Language 2.8.2).
    private mutating func notStarted(_ failure: StepStart.Failure, _ log: inout JobLog) -> End {
        if case .refused = failure { return end }
        sayNotStarted(failure, &log)
        log.endStep()
        return end
    }

    private mutating func sayNotStarted(_ failure: StepStart.Failure, _ log: inout JobLog) {
        let error: SystemError
        switch failure {
        case .noDirectory(let error):
            end.exit = 127
            log.say("\(step.name) cannot be started in \(step.workingDirectory): \(error.text)")
            return
        case .noCommand(let number): error = number
        case .fault(let reason):
            end.fault = reason
            return log.say(reason)
        case .refused: return
        }
        let command = step.arguments.first ?? ""
        let place = command.contains("/") ? "" : "; PATH is \(environment["PATH"] ?? "not set")"
        log.say("\(command) cannot be started: \(error.text)\(place)")
        end.exit = error.number == ENOENT ? 127 : 126
    }

    private mutating func follow(_ output: Int32, log: inout JobLog) {
        var isOpen = true
        let deadline = Time.monotonicMilliseconds().addingReportingOverflow(step.timeoutMilliseconds)
        let timeoutAt = deadline.overflow ? Int64.max : deadline.partialValue
        while true {
            let now = Time.monotonicMilliseconds()
            if log.failure != 0 {
                // Later output would be lost. The supervisor reports this in its status file, if that can be written.
                if !hasEnded { killAt = now }
                return
            }
            if !hasEnded, killAt == nil, now >= timeoutAt {
                // While this process stood still, the step may have ended in time.
                takeEvents(output, &isOpen, waiting: 0, &log)
            }
            if !hasEnded, killAt == nil {
                if now >= timeoutAt {
                    stop(limit: "\(step.step) exceeded \(Words.duration(step.timeoutMilliseconds))", &log)
                } else if log.isFull {
                    stop(limit: log.limitWords, &log)
                }
            }
            // Also for a step that was asked to end: it must not use its grace period to fill the disk.
            if !hasEnded, now >= watch.nextLook, let finding = watch.look(now: now) {
                // Exceeding these limits harms other processes, so there is no grace period.
                note(finding, &log)
                killAt = now
                return
            }
            if let killAt, now >= killAt { return }
            if hasEnded {
                if killAt == nil, !isOpen || now >= lingerUntil ?? 0 { return }
                if killAt != nil, Descendants.reap().isEmpty { return }
            }
            let wakeAt =
                hasEnded
                ? min(killAt ?? .max, now + Self.lookMilliseconds) : min(killAt ?? timeoutAt, watch.nextLook)
            takeEvents(output, &isOpen, waiting: Int32(clamping: max(0, wakeAt - now)), &log)
        }
    }

    /// Waits for the step's report, output and signals, and takes what has come of each.
    /// - Parameters:
    ///   - isOpen: Whether a process may still write to the output.
    ///   - milliseconds: The longest wait.
    private mutating func takeEvents(
        _ output: Int32, _ isOpen: inout Bool, waiting milliseconds: Int32, _ log: inout JobLog
    ) {
        var sources = [
            pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: isOpen ? output : -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: hasEnded ? -1 : started?.report ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        poll(&sources, nfds_t(sources.count), milliseconds)
        if sources[2].revents != 0 { takeReport(isLast: false, &log) }
        // Before the signals, so that output precedes the messages about it.
        if sources[1].revents != 0 { isOpen = readSome(output, into: &log) }
        if sources[0].revents != 0 { takeSignals(&log) }
    }

    private mutating func takeSignals(_ log: inout JobLog) {
        signals.read()
        for sender in signals.takeSenders() {
            log.say("process \(sender), of the job itself, asked the supervisor to end, which is not heeded")
        }
        take(Descendants.reap().ended)
        guard signals.isTerminationRequested else { return }
        guard let killAt else { return stop(limit: nil, &log) }
        // A later request can have a shorter grace period.
        if let request = cancel() { self.killAt = min(killAt, Self.end(of: request.graceMilliseconds)) }
    }

    /// Records a finding. The first limit is the one that counts.
    private mutating func note(_ finding: LimitWatch.Finding, _ log: inout JobLog) {
        switch finding {
        case .limit(let words):
            end.limit = end.limit ?? words
            log.say(hasEnded ? words : "\(words); \(step.name) is ended")
        case .fault(let words):
            // If the step is already being ended, this is not the reason.
            if killAt == nil, end.limit == nil { end.fault = words }
            log.say(words)
        }
    }

    /// Sends SIGTERM to all processes, SIGCONT so that stopped ones receive it, and sets the time at which the rest is killed.
    private mutating func stop(limit: String?, _ log: inout JobLog) {
        var grace = graceMilliseconds
        if let limit {
            end.limit = limit
            log.say("\(limit); \(step.name) is ended")
        } else if let request = cancel() {
            grace = request.graceMilliseconds
            log.say("canceled: \(request.reason)")
        } else {
            log.say("the machine is stopping")
        }
        Descendants.signal(SIGTERM, sparing: started?.sandboxGroups ?? [])
        Descendants.signal(SIGCONT, sparing: started?.sandboxGroups ?? [])
        killAt = Self.end(of: grace)
    }

    /// Returns the end of a grace period in milliseconds of the monotonic clock; it is at most an hour from now.
    private static func end(of grace: Int64) -> Int64 { Time.monotonicMilliseconds() + min(grace, 3_600_000) }

    private mutating func take(_ ended: [Descendants.End]) {
        for process in ended where !hasEnded {
            if killAt == nil, process.pid == started?.network?.process { loseNetwork(process.status) }
            guard process.pid == started?.pid else { continue }
            let isSignal = clinux_wait_was_signaled(process.status) != 0
            let signal = isSignal ? clinux_wait_signal(process.status) : nil
            let exit = isSignal ? nil : clinux_wait_exit_status(process.status)
            // Bubblewrap's end is not the step's, unless a signal ended it.
            if started?.report != nil, !isSignal { continue }
            setEnded(exit: exit, signal: signal, usage: StatusEvent.Usage(process.usage))
        }
    }

    /// Interrupts the step because its network has ended. What the step does without it is not its fault.
    private mutating func loseNetwork(_ status: Int32) {
        let how =
            clinux_wait_was_signaled(status) != 0
            ? "by signal \(clinux_wait_signal(status))" : "with status \(clinux_wait_exit_status(status))"
        let words = started?.network?.lastWords.map { ": \($0)" } ?? ""
        end.fault = "the step's network, slirp4netns, ended before the step, \(how)\(words)"
        killAt = Time.monotonicMilliseconds()
    }

    private mutating func setEnded(exit: Int32?, signal: Int32?, usage: StatusEvent.Usage) {
        hasEnded = true
        started?.network?.end()
        started?.network = nil
        lingerUntil = Time.monotonicMilliseconds() + Self.lingerMilliseconds
        (end.exit, end.signal, end.usage) = (exit, signal, usage)
    }

    /// Reads the report of the sandbox's first process, or of bubblewrap.
    private mutating func takeReport(isLast: Bool, _ log: inout JobLog) {
        guard let descriptor = started?.report else { return }
        var isAtEnd = isLast
        reading: while true {
            switch Descriptor.readOnce(descriptor, limit: 4096) {
            case .success(let bytes?): if report.count < Self.reportLimit { report += bytes }
            case .success(nil):
                isAtEnd = true
                break reading
            case .failure(let error):
                if error.number != EINTR { break reading }
            }
        }
        guard !hasEnded else { return }
        switch SandboxReport(report) {
        case .ended(let exit, let signal, let usage, let full):
            setEnded(exit: exit, signal: signal, usage: usage)
            // If the step was asked to end, this is not the reason.
            if killAt == nil { self.full = full }
        case .noCommand(let number):
            setEnded(exit: nil, signal: nil, usage: .init())
            sayNotStarted(.noCommand(SystemError(number: number)), &log)
        case .noDirectory(let number):
            setEnded(exit: nil, signal: nil, usage: .init())
            sayNotStarted(.noDirectory(SystemError(number: number)), &log)
        case .broken(let reason):
            setEnded(exit: nil, signal: nil, usage: .init())
            end.fault = "the sandbox could not be made: \(reason)"
        case nil:
            guard isAtEnd else { return }
            setEnded(exit: nil, signal: SIGKILL, usage: .init())
            let complaint = String(decoding: report, as: UTF8.self)
            if !complaint.isEmpty {
                end.fault = "the sandbox could not be made: " + Sandbox.reason(complaint: complaint)
            }
        }
    }

    /// Reads output once. Returns false at the end of the output.
    private func readSome(_ output: Int32, into log: inout JobLog) -> Bool {
        switch Descriptor.readOnce(output, limit: LogIndexRecord.chunkLimit) {
        case .success(let bytes?):
            log.append(bytes)
            return true
        case .success(nil): return false
        case .failure(let error): return error.number == EAGAIN || error.number == EINTR
        }
    }

    /// Reads only what is in the pipe now: 64 KiB unless a step enlarged the pipe. A process that prints forever must not delay the supervisor. Such
    /// a process may not belong to the step and thus survive: any process of the same user can open the pipe through /proc.
    private func drain(_ output: Int32, into log: inout JobLog) {
        var left: Int32 = 0
        guard withUnsafeMutablePointer(to: &left, { clinux_ioctl(output, UInt(FIONREAD), UInt(bitPattern: $0)) }) == 0
        else { return }
        while left > 0 {
            let limit = min(Int(left), LogIndexRecord.chunkLimit)
            guard case .success(let bytes?) = Descriptor.readOnce(output, limit: limit) else { return }
            log.append(bytes)
            left -= Int32(clamping: bytes.count)
        }
    }
}
