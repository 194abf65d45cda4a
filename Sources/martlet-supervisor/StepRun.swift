import CLinux
import Glibc
import JobProtocol

/// One step from its first process to its last.
struct StepRun {
    /// How long output is waited for after the step's main process ended while others still hold its end of the pipe.
    static let lingerMilliseconds: Int64 = 500
    /// How often processes that were asked to end are looked at.
    private static let lookMilliseconds: Int64 = 50

    struct End {
        var exit: Int32?
        var signal: Int32?
        var limit: String?
        var usage = StatusEvent.Usage()
        /// Something outlived SIGKILL.
        var isStuck = false

        var isSuccess: Bool { exit == 0 && limit == nil }
    }

    let step: JobDescription.Step
    let environment: [String: String]
    let graceMilliseconds: Int64
    let signals: Signals
    /// Why to end, asked for after a signal.
    let cancel: () -> CancelRequest?

    /// The step's main process; 0 until it runs.
    private var pid: Int32 = 0
    private var end = End()
    private var hasEnded = false
    /// When everything is killed; nothing as long as nobody asked the step to end.
    private var killAt: Int64?
    private var lingerUntil: Int64?

    init(
        step: JobDescription.Step, environment: [String: String], graceMilliseconds: Int64, signals: Signals,
        cancel: @escaping () -> CancelRequest?
    ) {
        self.step = step
        self.environment = environment
        self.graceMilliseconds = graceMilliseconds
        self.signals = signals
        self.cancel = cancel
    }

    /// - Parameter directory: The working directory, open.
    mutating func run(directory: Int32, log: inout JobLog) -> End {
        var pipe: [Int32] = [-1, -1]
        guard clinux_pipe(&pipe) == 0 else { return notStarted(SystemError(number: errno), &log) }
        switch CommandVector.spawn(
            step.arguments, environment: environment, directory: directory, output: pipe[1], errors: pipe[1])
        {
        case .failure(let error):
            close(pipe[0])
            close(pipe[1])
            return notStarted(error, &log)
        case .success(let pid): self.pid = pid
        }
        close(pipe[1])
        follow(pipe[0], log: &log)
        let (ended, isEmpty) = Descendants.killAll { drain(pipe[0], into: &log) }
        take(ended)
        drain(pipe[0], into: &log)
        close(pipe[0])
        end.isStuck = !isEmpty
        log.end()
        return end
    }

    /// The shell's statuses: 127 when the command is not there, 126 when it cannot be run (POSIX, Shell Command Language
    /// 2.8.2).
    private mutating func notStarted(_ error: SystemError, _ log: inout JobLog) -> End {
        let command = step.arguments.first ?? ""
        let place = command.contains("/") ? "" : "; PATH is \(environment["PATH"] ?? "not set")"
        log.say("\(command) cannot be started: \(error.text)\(place)")
        log.end()
        end.exit = error.number == ENOENT ? 127 : 126
        return end
    }

    private mutating func follow(_ output: Int32, log: inout JobLog) {
        var isOpen = true
        let deadline = Time.monotonicMilliseconds().addingReportingOverflow(step.timeoutMilliseconds)
        let timeoutAt = deadline.overflow ? Int64.max : deadline.partialValue
        while true {
            let now = Time.monotonicMilliseconds()
            if !hasEnded, end.limit == nil, killAt == nil {
                if now >= timeoutAt {
                    stop(limit: "\(step.step) exceeded \(Words.duration(step.timeoutMilliseconds))", &log)
                } else if log.isFull {
                    stop(limit: log.limitWords, &log)
                }
            }
            if let killAt, now >= killAt { return }
            if hasEnded {
                if killAt == nil, !isOpen || now >= lingerUntil ?? 0 { return }
                if killAt != nil, Descendants.reap().isEmpty { return }
            }
            let wakeAt = min(killAt ?? .max, hasEnded ? now + Self.lookMilliseconds : killAt == nil ? timeoutAt : .max)
            var sources = [
                pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isOpen ? output : -1, events: Int16(POLLIN), revents: 0),
            ]
            poll(&sources, 2, Int32(clamping: max(0, wakeAt - now)))
            if sources[0].revents != 0 { takeSignals(&log) }
            if sources[1].revents != 0 { isOpen = readSome(output, into: &log) }
        }
    }

    private mutating func takeSignals(_ log: inout JobLog) {
        signals.read()
        take(Descendants.reap().ended)
        if signals.isTerminationRequested, killAt == nil { stop(limit: nil, &log) }
    }

    /// SIGTERM to all, SIGCONT so that stopped ones hear it, and the time at which the rest is killed.
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
        Descendants.signal(SIGTERM)
        Descendants.signal(SIGCONT)
        killAt = Time.monotonicMilliseconds() + min(grace, 3_600_000)
    }

    private mutating func take(_ ended: [Descendants.End]) {
        for process in ended where process.pid == pid && !hasEnded {
            hasEnded = true
            lingerUntil = Time.monotonicMilliseconds() + Self.lingerMilliseconds
            if clinux_wait_was_signaled(process.status) != 0 {
                end.signal = clinux_wait_signal(process.status)
            } else {
                end.exit = clinux_wait_exit_status(process.status)
            }
            end.usage = StatusEvent.Usage(
                userMilliseconds: process.usage.user_milliseconds,
                systemMilliseconds: process.usage.system_milliseconds,
                maximumResidentBytes: process.usage.maximum_resident_bytes)
        }
    }

    /// False at the end of the output.
    private func readSome(_ output: Int32, into log: inout JobLog) -> Bool {
        switch Descriptor.readOnce(output, limit: LogIndexRecord.chunkLimit) {
        case .success(let bytes?):
            log.append(bytes)
            return true
        case .success(nil): return false
        case .failure(let error): return error.number == EAGAIN || error.number == EINTR
        }
    }

    /// What is in the pipe now.
    private func drain(_ output: Int32, into log: inout JobLog) {
        while case .success(let bytes?) = Descriptor.readOnce(output, limit: LogIndexRecord.chunkLimit) {
            log.append(bytes)
        }
    }
}
