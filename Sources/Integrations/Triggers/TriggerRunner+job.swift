import Basics
import Execution
import JobProtocol
import Jobs
import Model
import Reports
import Storage

/// What of a trigger runs as a job: the operator's script, or the command that says a version.
extension TriggerRunner {
    /// What a job is to be, and the values of the secrets that it gets.
    struct Order: Sendable {
        var job: JobDescription
        var secrets: [String: String] = [:]
    }

    private var launcher: JobLauncher { JobLauncher(executor: executor, timer: timer, logger: logger) }

    /// Runs a job in a directory of its own, or follows one that a daemon before this one started, to its end; then the directory goes.
    /// - Parameters:
    ///   - what: In messages: `the script`.
    ///   - id: The trigger's integration, which says why it waits.
    ///   - order: Fills the directory whose absolute path it gets, which has an empty `tmp` already.
    ///   - read: Takes from it what is wanted, before it goes.
    /// - Throws: What those two throw, an `ExecutionError`: nothing of the job runs then. `TriggerInterruption` when it ended by no fault of
    ///   its own, `CancellationError` when it was canceled before it began, or the daemon stops: then it goes on.
    func runJob<Value>(
        _ what: String, of id: IntegrationID, at log: String, _ cancellation: Cancellation,
        order: (String) async throws -> Order, read: (AttemptDirectory, StepEnds) async throws -> Value
    ) async throws -> Value {
        let attempt = AttemptDirectory(path: "\(state.path)/\(log)")
        do {
            try await start(attempt, of: id, cancellation, order: order)
            let ends = try await follow(attempt, cancellation)
            if ends.outcome == .interrupted { throw TriggerInterruption(what: what) }
            let value = try await read(attempt, ends)
            await clear(attempt)
            return value
        } catch {
            if Task.isCancelled { throw CancellationError() }
            // It is taken up again, and so is whatever runs.
            if let error = error as? StoreError, error.isPassing { throw error }
            try await launcher.end(attempt, because: "\(error)")
            await clear(attempt)
            if let error = error as? ExecutionError, error.code == .lost { throw TriggerInterruption(what: what) }
            throw error
        }
    }

    /// Starts it, unless it was.
    private func start(
        _ attempt: AttemptDirectory, of id: IntegrationID, _ cancellation: Cancellation,
        order: (String) async throws -> Order
    ) async throws {
        guard try await launcher.liveness(of: attempt, cancellation) == .notStarted else { return }
        do {
            guard await cancellation.requested == nil else { throw CancellationError() }
            let work = try await queue.run { try makeWork(of: attempt) }
            let made = try await order(work)
            try await queue.run { try attempt.prepare(made.job) }
            let isStarted = try await launcher.start(
                attempt, secrets: made.secrets, cancellation, explain: { await store.explainWait(of: id, $0, logger) })
            guard isStarted else { throw CancellationError() }
        } catch let error as ExecutionError where error.code == .exists {
            // A launcher that stood still has just taken what a daemon before this one asked it for: that is followed.
        } catch {
            // Or it takes that later.
            let isPassing = (error as? StoreError)?.isPassing ?? false
            if !Task.isCancelled, !isPassing { try await launcher.withdraw(attempt, because: "\(error)") }
            throw error
        }
    }

    /// Follows it to its end; a cancellation request ends it.
    private func follow(_ attempt: AttemptDirectory, _ cancellation: Cancellation) async throws -> StepEnds {
        let executor = executor
        var events: [StatusEvent] = []
        let stopping = JobStopping(attempt, launcher, cancellation)
        defer { stopping.end() }
        try await cancellation.whileCancellable(
            stop: { await stopping.ask($0) },
            {
                for try await event in AttemptFollower(executor: executor).events(of: attempt) { events.append(event) }
            })
        try Task.checkCancellation()
        return StepEnds(events)
    }

    /// Makes a directory for a job to work in, `<attempt>.work/<number>`. None is used twice: a job that a daemon before this one asked for
    /// can begin in its own while another is made ready.
    private func makeWork(of attempt: AttemptDirectory) throws -> String {
        let integrations = try Directory(opening: state.integrations)
        let place = relativeWork(of: attempt)
        var number = 1
        while try integrations.status("\(place)/\(number)") != nil { number += 1 }
        try integrations.makeDirectories("\(place)/\(number)/tmp", mode: 0o700)
        return "\(state.integrations)/\(place)/\(number)"
    }

    /// What cannot be removed goes with the integration.
    private func clear(_ attempt: AttemptDirectory) async {
        await queue.run { try? Directory(opening: state.integrations).remove(relativeWork(of: attempt)) }
    }

    private func relativeWork(of attempt: AttemptDirectory) -> String {
        String((attempt.path + Self.workSuffix).dropFirst(state.integrations.count + 1))
    }

    /// The suffix of the directory beside an attempt's directory in which the attempt's job works.
    static let workSuffix = ".work"
}

/// A trigger's job that ended by no fault of its own: the machine was stopping, or its supervisor was lost.
struct TriggerInterruption: Error, CustomStringConvertible {
    /// `the script`.
    let what: String

    /// What is said of the first of two tries.
    var onceReason: String {
        "\(what) was interrupted: the machine was stopping, or its supervisor was lost; it runs again"
    }

    var description: String { "\(what) was interrupted twice: the machine was stopping, or its supervisor was lost" }
}
