import Basics
import Execution
import JobProtocol
import Logging
import Model
import Storage

/// Follows a job while it runs: stores its steps as they change, and reads its results at the end.
extension JobRunner {
    /// Follows a started job to its end. The workspace is released only when none of its processes runs any more. If the daemon stops, it is not
    /// released.
    func complete(
        _ attempt: AttemptRecord, _ directory: AttemptDirectory, plan: JobPlanner.Plan, _ workspace: Workspace,
        _ request: Request, _ cancellation: Cancellation
    ) async throws {
        do {
            let begun = Signal()
            // This runs beside the job, once the job has started. The job has its files already, but later readers still need the commit.
            async let held: Void = hold(request, after: begun)
            defer { begun.finish() }
            try await follow(attempt, directory, plan: plan, workspace, request, cancellation, begun)
            begun.finish()
            await held
        } catch {
            if Task.isCancelled || error is CancellationError { throw CancellationError() }
            // The job is not at fault. It is taken up again, so it keeps its workspace.
            if mustWait(after: error) {
                // Removes the job's files to make room for its results.
                if case .finished? = try? await executor.liveness(of: directory) { await emptyIfFull(workspace) }
                throw error
            }
            try await launcher.end(directory, because: "\(error)")
            // Another attempt follows, and the state of the lost job's workspace is unknown.
            if try await executor.liveness(of: directory) == .lost { try await discard(workspace) }
            await release(workspace)
            throw error
        }
        await release(workspace)
    }

    private func follow(
        _ attempt: AttemptRecord, _ directory: AttemptDirectory, plan: JobPlanner.Plan, _ workspace: Workspace,
        _ request: Request, _ cancellation: Cancellation, _ begun: Signal
    ) async throws {
        let (id, executor) = (attempt.id, executor)
        var last: [StepChange] = []
        let (store, logger) = (store, logger)
        let follower = AttemptFollower(executor: executor) { wait in
            // Shown with the integration on its page, in the queue, by the commands and in the interface.
            let place = "\(id.job) waits at the cluster"
            await store.explainWait(of: id.integration, wait.map { "\(place): \($0)" }, logger)
        }
        let stopping = JobStopping(directory, launcher, cancellation)
        defer { stopping.end() }
        do {
            try await cancellation.whileCancellable(
                stop: { await stopping.ask($0) },
                {
                    var progress = Progress(state: attempt.state)
                    for try await events in follower.batches(of: directory) {
                        let steps = events.compactMap { progress.record($0, steps: plan.steps) }
                        // Changes that come with the job's last event are stored with the job's results, if the results can be read at once.
                        if events.last?.isFinished ?? false, directory.logSize <= Self.shortLogBytes {
                            last = steps
                        } else if !steps.isEmpty {
                            try await store.record(steps: steps, of: id)
                        }
                        // The job has started: neither the daemon nor the supervisor waits for the disk any more.
                        begun.notify()
                    }
                })
        } catch let error as ExecutionError where error.code == .lost {
            try await discard(workspace)
            await rememberNode(of: workspace, directory, isLost: true)
            let ending = await executor.ending(of: directory)
            try await finish(
                id, verdict: ending?.isLimit == true ? .buildErrors : .internalError,
                reason: ending?.sentence ?? Self.lostReason)
            return
        }
        stopping.end()
        try Task.checkCancellation()
        await clear(workspace)
        await emptyIfFull(workspace)
        await rememberNode(of: workspace, directory)
        // A job whose results are read at once need not be shown as ended on the page meanwhile.
        if attempt.state != .ended, directory.logSize > Self.shortLogBytes {
            try await store.apply(.ended, to: id, at: clock.now())
        }
        do {
            try await process(id, directory, plan: plan, steps: last, workspace, request, cancellation)
        } catch {
            // A fault of the service must not hide the job's steps.
            if !last.isEmpty { try await store.record(steps: last, of: id) }
            throw error
        }
    }

    /// The largest size in bytes of a log that is read at once. While a longer log is read, the attempt is shown as ended.
    private static let shortLogBytes: Int64 = 1 << 20

    /// The progress of an attempt that is stored in the database. After a restart its events are read again from the first.
    private struct Progress {
        var state: AttemptState
        var started: [Int: Timestamp] = [:]

        /// Whether the attempt enters a step that it has not entered before.
        mutating func enters(_ step: JobStep) -> Bool {
            switch state {
            case .queued: break
            case .running(let now): guard step > now else { return false }
            case .ended, .processed: return false
            }
            state = .running(step)
            return true
        }

        /// Returns the change that an event makes to a step; `nil` if it belongs to no known step.
        mutating func record(_ event: StatusEvent, steps: [JobDescription.Step]) -> StepChange? {
            switch event {
            case .started(let index, let at):
                guard steps.indices.contains(index), let step = JobStep(rawValue: steps[index].step) else { return nil }
                let time = Timestamp(millisecondsSinceEpoch: at)
                started[index] = time
                return StepChange(
                    StepRecord(index: index, step: step, name: steps[index].name, startedAt: time),
                    isEntered: enters(step))
            case .ended(let index, let at, let exit, let signal, let limit, _):
                guard steps.indices.contains(index), let step = JobStep(rawValue: steps[index].step) else { return nil }
                let time = Timestamp(millisecondsSinceEpoch: at)
                return StepChange(
                    StepRecord(
                        index: index, step: step, name: steps[index].name, startedAt: started[index] ?? time,
                        endedAt: time, exit: exit.map(Int.init), signal: signal.map(Int.init), limit: limit))
            case .finished: return nil
            }
        }
    }
}
