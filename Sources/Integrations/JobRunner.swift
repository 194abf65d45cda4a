import Basics
package import Execution
import JobProtocol
package import Logging
package import Model
import Settings
package import SourceControl
package import Storage

/// Brings one configuration of an integration to its result, from wherever it is: nothing started, running since before
/// a restart, or done. Every step of it can be repeated.
package struct JobRunner: Sendable {
    let store: Store
    let state: StateDirectory
    let workspaces: Workspaces
    let executor: any Executor
    let planner: JobPlanner
    let slots: JobSlots
    let archiver: ProductArchiver
    let clock: WallClock
    let environment: JobEnvironment
    let logger: Logger
    /// Job directories and workspaces are written, read and removed here.
    let lane = BlockingLane(label: "jobs")

    /// Attempts that are made by themselves: one, and one more when the first was lost.
    static let maximumAttempts = 2

    package init(
        store: Store, state: StateDirectory, workspaces: Workspaces, executor: any Executor, planner: JobPlanner,
        slots: JobSlots, archiver: ProductArchiver, clock: WallClock, environment: JobEnvironment, logger: Logger
    ) {
        self.store = store
        self.state = state
        self.workspaces = workspaces
        self.executor = executor
        self.planner = planner
        self.slots = slots
        self.archiver = archiver
        self.clock = clock
        self.environment = environment
        self.logger = logger
    }

    /// What a job needs of its integration.
    package struct Request: Sendable {
        package var integration: IntegrationRecord
        package var bot: BotSpecification
        package var recipe: Recipe
        package var configuration: Recipe.Configuration
        package var mirror: Mirror
        package var previousTests: Int?
    }

    /// Runs it.
    /// - Returns: The last attempt as stored.
    /// - Throws: `CancellationError` when the daemon stops: the job goes on, and the next daemon takes it up here.
    ///   Any other error is ours; the attempt is then not processed.
    package func run(_ request: Request, cancellation: Cancellation) async throws -> AttemptRecord {
        let job = request.configuration.name
        while true {
            let attempts = try await store.attempts(of: request.integration.id).filter { $0.id.job == job }
            if let last = attempts.last, case .processed = last.state, !mayRetry(last) { return last }
            let attempt: AttemptRecord
            if let last = attempts.last, last.state.verdict == nil {
                attempt = last
            } else {
                attempt = try await store.addAttempt(to: request.integration.id, job: job, at: clock.now())
            }
            try await slots.withSlot {
                try await bring(attempt, of: request, cancellation: cancellation)
            }
        }
    }

    private func mayRetry(_ attempt: AttemptRecord) -> Bool {
        attempt.reason == Self.lostReason && attempt.id.attempt < Self.maximumAttempts
    }

    /// The reason of an attempt whose supervisor was lost.
    static let lostReason = "the supervisor was lost: it is gone without a result; the workspace was made anew"

    private func bring(_ attempt: AttemptRecord, of request: Request, cancellation: Cancellation) async throws {
        let id = attempt.id
        let directory = AttemptDirectory(path: state.attempt(id.integration, job: id.job, attempt: id.attempt))
        let workspace: Workspace
        let plan: JobPlanner.Plan
        if try await executor.liveness(of: directory) == .notStarted {
            if let reason = await cancellation.requested {
                try await finish(id, verdict: .canceled, reason: reason)
                return
            }
            let lane: Workspaces.Lane = request.integration.isRelease ? .release : .trusted
            workspace = await workspaces.take(bot: request.bot.name, configuration: id.job, lane: lane)
            do {
                plan = try await prepare(id, directory, workspace, request)
                try await executor.start(directory, secrets: [:])
            } catch let error as SourceControlError {
                await workspaces.giveBack(workspace)
                try await finish(id, verdict: .checkoutError, reason: "\(error)")
                return
            } catch let error as PreparationError {
                await workspaces.giveBack(workspace)
                try await finish(id, verdict: .buildErrors, reason: "\(error)")
                return
            } catch {
                await workspaces.giveBack(workspace)
                throw error
            }
        } else {
            // Found running, or ended, after a restart: the job directory says with what.
            let description = try await lane.run { try directory.job() }
            guard let found = Workspace(tree: description.workspace) else {
                try await finish(
                    id, verdict: .internalError, reason: "the job directory \(directory.path) names no workspace")
                return
            }
            workspace = found
            await workspaces.retake(workspace)
            plan = JobPlanner.plan(of: description, recipe: request.recipe)
        }
        do {
            try await follow(attempt, directory, plan: plan, workspace, request, cancellation)
        } catch {
            await workspaces.giveBack(workspace)
            throw error
        }
        await workspaces.giveBack(workspace)
    }

    /// Removes what tools left in their temporary directory; the next preparation would too.
    private func clear(_ workspace: Workspace) async {
        await lane.run { try? Directory(opening: workspace.path).remove("tmp") }
    }

    private func follow(
        _ attempt: AttemptRecord, _ directory: AttemptDirectory, plan: JobPlanner.Plan, _ workspace: Workspace,
        _ request: Request, _ cancellation: Cancellation
    ) async throws {
        let (id, executor) = (attempt.id, executor)
        let description = try await lane.run { try directory.job() }
        do {
            try await cancellation.whileCancellable(
                stop: { reason in
                    // What cannot be asked to stop ends by its time-outs; the page shows it running until then.
                    try? await executor.cancel(directory, reason: reason, grace: Self.cancelGrace)
                },
                {
                    var progress = Progress(state: attempt.state)
                    for try await event in AttemptFollower(executor: executor).events(of: directory) {
                        try await note(event, of: id, steps: description.steps, &progress)
                    }
                })
        } catch let error as ExecutionError where error.code == .lost {
            try await lane.run {
                try Directory(opening: state.workspaces).remove(
                    String(workspace.path.dropFirst(state.workspaces.count + 1)))
            }
            try await finish(id, verdict: .internalError, reason: Self.lostReason)
            return
        }
        try Task.checkCancellation()
        await clear(workspace)
        if attempt.state != .ended { try await store.apply(.ended, to: id, at: clock.now()) }
        try await process(id, directory, plan: plan, workspace, request)
    }

    /// How far an attempt is in the database. After a restart its events are read again from the first.
    private struct Progress {
        var state: AttemptState
        var started: [Int: Timestamp] = [:]

        /// Whether entering a step is news.
        mutating func enters(_ step: JobStep) -> Bool {
            switch state {
            case .queued: break
            case .running(let now): guard step > now else { return false }
            case .ended, .processed: return false
            }
            state = .running(step)
            return true
        }
    }

    /// Between SIGTERM and SIGKILL when a person cancels.
    static let cancelGrace = Duration.seconds(10)

    private func note(
        _ event: StatusEvent, of id: AttemptID, steps: [JobDescription.Step], _ progress: inout Progress
    ) async throws {
        switch event {
        case .started(let index, let at):
            guard steps.indices.contains(index), let step = JobStep(rawValue: steps[index].step) else { return }
            let time = Timestamp(millisecondsSinceEpoch: at)
            progress.started[index] = time
            if progress.enters(step) { try await store.apply(.entered(step), to: id, at: time) }
            try await store.record(
                step: StepRecord(index: index, step: step, name: steps[index].name, startedAt: time), of: id)
        case .ended(let index, let at, let exit, let signal, let limit, _):
            guard steps.indices.contains(index), let step = JobStep(rawValue: steps[index].step) else { return }
            let time = Timestamp(millisecondsSinceEpoch: at)
            try await store.record(
                step: StepRecord(
                    index: index, step: step, name: steps[index].name, startedAt: progress.started[index] ?? time,
                    endedAt: time,
                    exit: exit.map(Int.init), signal: signal.map(Int.init), limit: limit),
                of: id)
        case .finished: break
        }
    }

    func finish(_ id: AttemptID, verdict: Verdict, reason: String) async throws {
        let results = AttemptResults(analysis: "not run", tested: "not run", verdict: verdict, reason: reason)
        try await store.storeResults(results, of: id, at: clock.now())
    }
}
