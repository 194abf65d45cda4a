import Basics
import CLibGit2
import Glibc

/// Runs blocking network work on a serial queue, and stops it when a limit is exceeded or the task is canceled.
struct NetworkWatch {
    let queue: SerialQueue
    let limits: NetworkLimits

    /// - Parameter limit: The time limit of the whole operation, which begins when the queue starts it.
    func run<Value: Sendable>(
        limit: Duration, _ body: @escaping @Sendable (NetworkControl) throws(SourceControlError) -> Value
    ) async throws(SourceControlError) -> Value {
        let control = NetworkControl(limits: limits)
        let queue = queue
        let result = await withTaskGroup(of: Result<Value, SourceControlError>?.self) { group in
            group.addTask {
                await queue.run { () -> Result<Value, SourceControlError> in
                    do throws(SourceControlError) {
                        return .success(try control.run { () throws(SourceControlError) in try body(control) })
                    } catch {
                        // If the sockets were shut down, the stop is the reason, whatever error libgit2 reports. It is read here, because the end of
                        // the operation also stops the watch.
                        return .failure(control.stopped.map { Self.error($0, underlying: error) } ?? error)
                    }
                }
            }
            group.addTask {
                await Self.watch(control, limit: limit)
                return nil
            }
            var result: Result<Value, SourceControlError>?
            for await finished in group {
                guard let finished else { continue }
                result = finished
                group.cancelAll()
            }
            return result
        }
        // Never `nil`: the queue's task always returns a result.
        return try (result ?? .failure(Self.error(.canceled))).get()
    }

    /// The queue on which /proc is read, for every process of the machine.
    private static let queue = SerialQueue(label: "git.effort")

    /// Watches the operation. Returns when it has stopped the operation or its task is canceled.
    private static func watch(_ control: NetworkControl, limit: Duration) async {
        while control.stopped == nil {
            do {
                try await Task.sleep(for: control.limits.interval)
            } catch {
                // The task is canceled from outside, or because the operation has ended and has no sockets any more.
                return control.stop(.canceled)
            }
            guard let began = control.began else { continue }
            if ContinuousClock.now - began > limit { return control.stop(.late(limit)) }
            if let limit = control.overdue { return control.stop(.late(limit)) }
            if let processes = control.silentProcesses {
                control.record(effort: await queue.run { ProcessEffort.ticks(ofSessions: processes) })
            }
            let silence = control.silence { socket in
                let milliseconds = clibgit2_milliseconds_since_last_receive(socket)
                return milliseconds < 0 ? nil : milliseconds
            }
            if let silence, silence > control.limits.silence, ContinuousClock.now - began > control.limits.silence {
                return control.stop(.silent(control.limits.silence))
            }
        }
    }

    static func error(_ stop: NetworkControl.Stop, underlying: SourceControlError? = nil) -> SourceControlError {
        let operation = underlying?.operation ?? "talking to the server"
        switch stop {
        case .canceled:
            return SourceControlError(
                code: .canceled, operation: operation, message: "it was canceled", underlying: underlying)
        case .silent(let limit):
            return SourceControlError(
                code: .timedOut, operation: operation,
                message: "the server sent nothing for \(limit); Martlet tries again later", underlying: underlying)
        case .late(let limit):
            return SourceControlError(
                code: .timedOut, operation: operation,
                message: "it did not finish within \(limit); Martlet tries again later", underlying: underlying)
        case .tooManyBytes(let limit):
            return SourceControlError(
                code: .tooLarge, operation: operation, message: "the server sent more than \(limit) bytes",
                underlying: underlying)
        case .longList:
            return RemoteSession.longList(operation, underlying)
        }
    }
}

/// Measures the processor time of processes by /proc.
enum ProcessEffort {
    /// Returns the clock ticks (hundredths of a second) that all living processes of some sessions have used in user and system mode: fields 14 and
    /// 15 of /proc/PID/stat (proc(5)).
    static func ticks(ofSessions sessions: Set<pid_t>) -> UInt64 {
        guard let directory = opendir("/proc") else { return 0 }
        defer { closedir(directory) }
        var sum: UInt64 = 0
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            // A process that exited meanwhile does not count.
            guard Int(name) != nil, let bytes = try? WholeFile.read("/proc/\(name)/stat", limit: 4096) else { continue }
            // The name in parentheses may contain any character. The fields after it are numbers.
            let text = String(decoding: bytes, as: UTF8.self)
            guard let end = text.lastIndex(of: ")") else { continue }
            let fields = text[text.index(after: end)...].split(separator: " ")
            guard fields.count > 12, let session = pid_t(fields[3]), sessions.contains(session) else { continue }
            sum += (UInt64(fields[11]) ?? 0) + (UInt64(fields[12]) ?? 0)
        }
        return sum
    }
}
