import Basics
package import Execution
package import JobProtocol
import Synchronization

/// An executor for tests that starts no process. It writes an attempt's directory step by step, as a supervisor does.
///
/// With a `plan` a started attempt plays its whole job at once. Without one it keeps running, and the test calls `write`, `print`, `leave` and
/// `lose`. `ExecutorContractTests` hold it to the behavior of the real one.
package final class ScriptedExecutor: Executor {
    /// What a step does.
    package struct Play: Sendable {
        package var output: String
        package var exit: Int32
        package var limit: String?
        /// The reports, by path relative to `reports/<index>/`.
        package var reports: [String: String]

        package init(output: String = "", exit: Int32 = 0, limit: String? = nil, reports: [String: String] = [:]) {
            self.output = output
            self.exit = exit
            self.limit = limit
            self.reports = reports
        }
    }

    /// What a job does: its steps by index, and the collected files by path relative to `artifacts/`.
    package struct Plan: Sendable {
        package var steps: @Sendable (Int, JobDescription.Step) -> Play
        package var artifacts: [String: [UInt8]]

        package init(
            artifacts: [String: [UInt8]] = [:], steps: @escaping @Sendable (Int, JobDescription.Step) -> Play
        ) {
            self.steps = steps
            self.artifacts = artifacts
        }
    }

    private struct State {
        var running: Set<String> = []
        var starts: [String] = []
        var secrets: [String: [String: String]] = [:]
    }

    /// Returns what a job does; `nil` if it runs until the test decides.
    package let plan: @Sendable (JobDescription) -> Plan?
    private let state = Mutex(State())

    /// - Parameter plan: Returns what a job does; `nil` if it runs until the test decides.
    package init(plan: @escaping @Sendable (JobDescription) -> Plan? = { _ in nil }) { self.plan = plan }

    /// The started attempts, each once, in order.
    package var starts: [String] { state.withLock { $0.starts } }

    /// Returns the secrets that an attempt was started with.
    package func secrets(of attempt: AttemptDirectory) -> [String: String] {
        state.withLock { $0.secrets[attempt.path] ?? [:] }
    }

    package func start(_ attempt: AttemptDirectory, secrets: [String: String]) async throws(ExecutionError) {
        guard try await liveness(of: attempt) == .notStarted else { return }
        let job = try attempt.job()
        state.withLock { state in
            state.running.insert(attempt.path)
            state.starts.append(attempt.path)
            state.secrets[attempt.path] = secrets
        }
        try append("", to: "status.jsonl", of: attempt)
        if let plan = plan(job) { try play(plan, job, attempt) }
    }

    package func liveness(of attempt: AttemptDirectory) async throws(ExecutionError) -> Liveness {
        if try isFinished(attempt) { return .finished }
        let (isRunning, wasStarted) = state.withLock {
            ($0.running.contains(attempt.path), $0.starts.contains(attempt.path))
        }
        return isRunning ? .running : wasStarted ? .lost : .notStarted
    }

    private func isFinished(_ attempt: AttemptDirectory) throws(ExecutionError) -> Bool {
        do throws(ExecutionError) {
            return try attempt.status().last?.isFinished ?? false
        } catch {
            guard error.code == .malformed else { throw error }
            return false
        }
    }

    package func cancel(
        _ attempt: AttemptDirectory, reason: String, grace: Duration
    ) async throws(ExecutionError) {
        try attempt.writeCancel(reason: reason, grace: grace)
        guard try await liveness(of: attempt) == .running else { return }
        try write(.finished(at: 0, result: .canceled, reason: reason, limit: nil, step: 0), of: attempt)
    }

    /// Adds an event. After `finished` the attempt no longer runs.
    package func write(_ event: StatusEvent, of attempt: AttemptDirectory) throws(ExecutionError) {
        try append(String(decoding: event.line(), as: UTF8.self) + "\n", to: "status.jsonl", of: attempt)
        if event.isFinished { state.withLock { _ = $0.running.remove(attempt.path) } }
    }

    /// Ends a job of one step that has begun.
    package func complete(_ attempt: AttemptDirectory) throws(ExecutionError) {
        try write(.ended(step: 0, at: 0, exit: 0, signal: nil, limit: nil, usage: .init()), of: attempt)
        try write(.finished(at: 0, result: .completed, reason: nil, limit: nil, step: nil), of: attempt)
    }

    /// Adds a text to the log and its index.
    package func print(_ text: String, step: Int, of attempt: AttemptDirectory) throws(ExecutionError) {
        let log = try attempt.readLog(from: 0, count: AttemptDirectory.logReadLimit)
        let record = LogIndexRecord(
            offset: UInt64(log.count), millisecondsSinceEpoch: 0, firstLine: UInt32(log.count { $0 == 0x0A } + 1),
            step: UInt16(step), flags: log.last ?? 0x0A == 0x0A ? [] : .continuesLine)
        try append(record.bytes(), to: "log.index", of: attempt)
        try append(text, to: "log", of: attempt)
    }

    /// Writes a file below `reports/<index>` or `artifacts`.
    package func leave(_ bytes: [UInt8], at path: String, of attempt: AttemptDirectory) throws(ExecutionError) {
        do throws(FileError) {
            let directory = try Directory(opening: attempt.path)
            if let slash = path.lastIndex(of: "/") { try directory.makeDirectories(String(path[..<slash])) }
            try directory.write(path, bytes: bytes)
        } catch {
            throw ExecutionError(.directory, "write \(path)", error.message, underlying: error)
        }
    }

    /// Ends the attempt as if its supervisor had died without a last event.
    package func lose(_ attempt: AttemptDirectory) {
        state.withLock { _ = $0.running.remove(attempt.path) }
    }

    private func play(_ plan: Plan, _ job: JobDescription, _ attempt: AttemptDirectory) throws(ExecutionError) {
        for (index, step) in job.steps.enumerated() {
            let play = plan.steps(index, step)
            try write(.started(step: index, at: 0), of: attempt)
            if !play.output.isEmpty { try print(play.output, step: index, of: attempt) }
            for (path, text) in play.reports {
                try leave(Array(text.utf8), at: "reports/\(index)/\(path)", of: attempt)
            }
            try write(
                .ended(step: index, at: 0, exit: play.exit, signal: nil, limit: play.limit, usage: .init()), of: attempt
            )
            if step.isRequired, play.exit != 0 || play.limit != nil {
                let reason = play.limit ?? "\(step.name) exited with \(play.exit)"
                return try write(
                    .finished(at: 0, result: .failed, reason: reason, limit: play.limit, step: index), of: attempt)
            }
        }
        for (path, bytes) in plan.artifacts { try leave(bytes, at: "artifacts/\(path)", of: attempt) }
        try write(.finished(at: 0, result: .completed, reason: nil, limit: nil, step: nil), of: attempt)
    }

    private func append(_ text: String, to file: String, of attempt: AttemptDirectory) throws(ExecutionError) {
        try append(Array(text.utf8), to: file, of: attempt)
    }

    private func append(_ bytes: [UInt8], to file: String, of attempt: AttemptDirectory) throws(ExecutionError) {
        do throws(FileError) {
            let directory = try Directory(opening: attempt.path)
            let before = try directory.status(file) == nil ? [] : directory.read(file, limit: 64 << 20)
            try directory.write(file, bytes: before + bytes)
        } catch {
            throw ExecutionError(.directory, "write \(file)", error.message, underlying: error)
        }
    }
}
