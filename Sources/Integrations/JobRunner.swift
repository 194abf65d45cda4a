import Basics
package import Execution
import JobProtocol
package import Logging
package import Model
package import Settings
package import SourceControl
package import Storage

/// Brings one configuration of an integration to its result, from any state: not started, running since before a restart, or done. Every step of it
/// can be repeated.
package struct JobRunner: Sendable {
    let store: Store
    let state: StateDirectory
    let workspaces: Workspaces
    let executor: any Executor
    let planner: JobPlanner
    let reader: ReaderProgram
    /// Keeps room for everything that this writes.
    let disk: DiskGuard
    let slots: JobSlots
    let running: RunningJobs
    let archiver: ProductArchiver
    let clock: WallClock
    /// For the pauses between tries to reach the launcher.
    let timer: any Clock<Duration>
    let environment: JobEnvironment
    let isolation: JobIsolation
    let secrets: SecretStore
    let logger: Logger
    /// Whether what the store cannot take for the moment is tried until it can, and a launcher that is gone is waited for: where people
    /// wait for the end of it, it is told instead.
    let outlastsStore: Bool
    /// Why no job has secrets; `nil`: the bot's file says which jobs have which.
    let secretless: String?
    /// The history of a working tree's jobs, which is in no database row.
    let ownHistory: JobHistory?
    /// Job directories and workspaces are written, read and removed here: on a lane for each look, so that no job waits
    /// for the disk of another. There are as many at a time as there are jobs.
    var lane: BlockingLane { BlockingLane(label: "job") }

    var launcher: JobLauncher {
        JobLauncher(executor: executor, timer: timer, logger: logger, outlastsLauncher: outlastsStore)
    }

    /// Attempts of one run that are made by themselves: one, and one more when the first was lost.
    static let maximumAttempts = 2

    package init(
        store: Store, state: StateDirectory, workspaces: Workspaces, executor: any Executor, planner: JobPlanner,
        reader: ReaderProgram, slots: JobSlots, archiver: ProductArchiver, clock: WallClock, timer: any Clock<Duration>,
        environment: JobEnvironment, isolation: JobIsolation, secrets: SecretStore, logger: Logger,
        outlastsStore: Bool = true, secretless: String? = nil, ownHistory: JobHistory? = nil
    ) {
        self.store = store
        self.state = state
        self.workspaces = workspaces
        self.executor = executor
        disk = DiskGuard(state: state, workspaces: workspaces, logger: logger)
        self.planner = planner
        self.reader = reader
        self.slots = slots
        running = RunningJobs(slots: slots)
        self.archiver = archiver
        self.clock = clock
        self.timer = timer
        self.environment = environment
        self.isolation = isolation
        self.secrets = secrets
        self.logger = logger
        self.outlastsStore = outlastsStore
        self.secretless = secretless
        self.ownHistory = ownHistory
    }

    /// What a job needs of its integration.
    package struct Request: Sendable {
        package var integration: IntegrationRecord
        package var bot: BotSpecification
        package var recipe: Recipe
        package var configuration: Recipe.Configuration
        package var mirror: Mirror
        /// Where the commit's submodules are had.
        package var remotes: Remotes
        /// Whether it is known already that its commit has none, or that the bot wants none.
        var isWithoutSubmodules = false
        /// Which tests the attempt runs, as the test tool reads it; `nil`: all.
        package var testFilter: String?
    }

    /// Runs it.
    /// - Returns: The last attempt as stored.
    /// - Throws: `CancellationError` when the daemon stops: the job goes on, and the next daemon takes it up here.
    ///   Any other error is ours; the attempt is then not processed. What the store cannot take for the moment is no error here.
    package func run(_ request: Request, cancellation: Cancellation) async throws -> AttemptRecord {
        let job = request.configuration.name
        while true {
            do {
                if let last = try await goOn(request, cancellation: cancellation) { return last }
            } catch let error where mustWait(after: error) {
                // Whatever runs goes on under its supervisor, and what it comes to lies on the disk: it is taken up again, however long
                // that takes.
                logger.warning(
                    "what became of a job could not be stored; it is tried again",
                    metadata: ["integration": "\(request.integration.id)", "job": "\(job)", "error": "\(error)"])
                try await timer.sleep(for: Scheduler.pause)
            }
        }
    }

    /// Whether the store could not take something for the moment, and it is to be tried again.
    func mustWait(after error: any Error) -> Bool {
        outlastsStore && (error as? StoreError)?.isPassing ?? false
    }

    /// Does what is missing of the job's last attempt, or begins the next one.
    /// - Returns: The last attempt if nothing is left to do.
    private func goOn(_ request: Request, cancellation: Cancellation) async throws -> AttemptRecord? {
        let job = request.configuration.name
        let attempts = try await store.attempts(of: request.integration.id).filter { $0.id.job == job }
        if let last = attempts.last, case .processed = last.state, await !mayRetry(last, attempts, of: request) {
            return last
        }
        let attempt =
            if let last = attempts.last, last.state.verdict == nil {
                last
            } else {
                try await store.addAttempt(
                    to: request.integration.id, job: job, testFilter: attempts.last?.testFilter, at: clock.now())
            }
        var request = request
        request.testFilter = attempt.testFilter
        var runsOn = false
        defer { if !runsOn { running.end(attempt.id) } }
        do {
            try await beginOrTakeUp(attempt, of: request, cancellation: cancellation)
        } catch let error as CancellationError {
            throw error
        } catch let error as StoreError {
            runsOn = mustWait(after: error)
            throw error
        } catch {
            if Task.isCancelled { throw CancellationError() }
            logger.error("a job failed by our fault", metadata: ["attempt": "\(attempt.id)", "error": "\(error)"])
            try await finish(attempt.id, verdict: .internalError, reason: "\(error)")
        }
        return nil
    }

    /// Begins an attempt that was not started, as soon as it has a slot, and continues any other.
    private func beginOrTakeUp(
        _ attempt: AttemptRecord, of request: Request, cancellation: Cancellation
    ) async throws {
        let claim = Self.claim(of: request.integration)
        // What has entered no step was never started: that is stored before the start.
        let isNew =
            if attempt.state == .queued { true } else {
                try await launcher.liveness(of: directory(of: attempt.id), cancellation) == .notStarted
            }
        guard isNew else {
            // It runs already, since before a restart: it waits for no slot, and has one.
            running.takeUp(attempt.id, claim)
            return try await takeUp(attempt, of: request, cancellation: cancellation)
        }
        // An earlier try left it so, and no process of it runs.
        running.end(attempt.id)
        let slots = slots
        if try await cancellation.interrupting({ try await slots.take(claim) }) == nil {
            return try await endUnstarted(attempt.id, cancellation)
        }
        running.begin(attempt.id, claim)
        try await begin(attempt, of: request, cancellation: cancellation)
    }

    /// What an integration's jobs ask for a slot with.
    static func claim(of integration: IntegrationRecord) -> JobSlots.Claim {
        JobSlots.Claim(priority: Scheduler.priority(of: integration), bot: integration.id.bot)
    }

    /// Whether one more attempt is made by itself: the last one's supervisor was lost, or the machine was stopping. Its directory says so,
    /// whatever sentence a version before this one stored for it.
    private func mayRetry(_ last: AttemptRecord, _ attempts: [AttemptRecord], of request: Request) async -> Bool {
        let run = request.integration.run
        guard last.run == run, last.state.verdict == .internalError,
            attempts.count(where: { $0.run == run }) < Self.maximumAttempts
        else { return false }
        let directory = directory(of: last.id)
        do {
            switch try await executor.liveness(of: directory) {
            case .lost: return true
            case .finished:
                let events = try await lane.run { try directory.status() }
                return StepEnds(events).outcome == .interrupted
            case .notStarted, .running: return false
            }
        } catch {
            logger.warning(
                "whether a job was interrupted cannot be read",
                metadata: ["attempt": "\(last.id)", "error": "\(error)"])
            return false
        }
    }

    /// Ends a canceled attempt that was not started here. A daemon before this one may have asked for its start.
    private func endUnstarted(_ id: AttemptID, _ cancellation: Cancellation) async throws {
        let reason = await reason(of: cancellation)
        try await launcher.withdraw(directory(of: id), because: reason)
        try await finish(id, verdict: .canceled, reason: reason)
    }

    private func reason(of cancellation: Cancellation) async -> String {
        await cancellation.requested?.reason ?? "canceled"
    }

    /// The reason of an attempt that ended because the machine was stopping.
    static let interruptedReason = "the machine was stopping"
    /// The reason of an attempt whose supervisor was lost.
    static let lostReason = "the supervisor was lost: it is gone without a result; the workspace was made anew"

    func directory(of id: AttemptID) -> AttemptDirectory {
        AttemptDirectory(path: state.attempt(id.integration, job: id.job, attempt: id.attempt))
    }

    /// Prepares a job that has a slot, starts it, and follows it to its end.
    private func begin(_ attempt: AttemptRecord, of request: Request, cancellation: Cancellation) async throws {
        let (id, directory) = (attempt.id, directory(of: attempt.id))
        if await cancellation.requested != nil { return try await endUnstarted(id, cancellation) }
        // Prepared by a daemon that had a sandbox.
        if request.integration.pull != nil, isolation.isolation != .sandbox {
            return try await finish(id, verdict: .canceled, reason: RepositoryLooks.unfencedReason)
        }
        guard try await hasRoom(for: request.integration.id, cancellation) else {
            return try await endUnstarted(id, cancellation)
        }
        let workspace = await takeWorkspace(id, request)
        let plan: JobPlanner.Plan
        do {
            let ready = try await prepare(id, request, in: workspace, cancellation)
            // An earlier daemon may have asked to start a job whose preparation has since been discarded.
            if ready == nil { try await launcher.withdraw(directory, because: await reason(of: cancellation)) }
            guard let ready,
                try await launcher.start(
                    directory, secrets: ready.secrets, cancellation,
                    explain: { await store.explainWait(of: id.integration, $0, logger) })
            else {
                await giveBack(workspace)
                return try await finish(id, verdict: .canceled, reason: await reason(of: cancellation))
            }
            plan = ready.plan
        } catch {
            if let error = error as? ExecutionError, error.code == .exists {
                return await leave(workspace, to: directory)
            }
            await giveBack(workspace)
            switch error {
            case let error as SourceControlError where error.code != .canceled && !Task.isCancelled:
                return try await finish(id, verdict: .checkoutError, reason: "\(error)")
            case let error as PreparationError:
                return try await finish(id, verdict: .buildErrors, reason: "\(error)")
            default: throw error
            }
        }
        try await bring(attempt, directory, plan: plan, workspace, request, cancellation)
    }

    /// A delayed launcher has just started what an earlier daemon asked for: the job runs, and is followed.
    /// - Parameter workspace: The workspace that was prepared meanwhile.
    private func leave(_ workspace: Workspace, to directory: AttemptDirectory) async {
        // What cannot be read is found lost when it is taken up.
        let job = await lane.run { try? directory.job() }
        let own = job.flatMap { Workspace(tree: $0.workspace) }
        if let own { await workspaces.retake(own) }
        if own != workspace { await giveBack(workspace) }
    }

    /// Found running, or ended, after a restart: the job directory says with what.
    private func takeUp(_ attempt: AttemptRecord, of request: Request, cancellation: Cancellation) async throws {
        let directory = directory(of: attempt.id)
        let description: JobDescription
        do {
            description = try await lane.run { try directory.job() }
        } catch let error as ExecutionError where error.code == .malformed || error.code == .notFound {
            // Power was lost before its job was on the disk. Its supervisor is then gone, and its workspace is in doubt; nothing records which of
            // the configuration's workspaces that was.
            guard try await executor.liveness(of: directory) == .lost else { throw error }
            try await discardWorkspaces(of: attempt.id)
            return try await finish(attempt.id, verdict: .internalError, reason: Self.lostReason)
        }
        guard let workspace = Workspace(tree: description.workspace) else {
            let reason = "the job directory \(directory.path) names no workspace"
            return try await finish(attempt.id, verdict: .internalError, reason: reason)
        }
        await workspaces.retake(workspace)
        let plan = JobPlanner.plan(
            of: description, configuration: request.configuration, recipe: request.recipe)
        try await bring(attempt, directory, plan: plan, workspace, request, cancellation)
    }

    /// Stores the end of an attempt of which no job's end is read.
    func finish(_ id: AttemptID, verdict: Verdict, reason: String) async throws {
        var results = AttemptResults(analysis: "not run", tested: "not run", verdict: verdict, reason: reason)
        // The recipe's mistake, which is an error as those are that are found before.
        if verdict == .buildErrors { results.addPreparationError(reason) }
        try await store.storeResults(results, of: id, at: clock.now())
        if verdict == .internalError { tellFault(of: id, reason) }
    }

    /// Logs for the operator which fault of a job was the machine's or ours.
    func tellFault(of id: AttemptID, _ reason: String?) {
        logger.warning(
            "a job came to nothing, by no fault of its code",
            metadata: ["attempt": "\(id)", "reason": "\(reason ?? "not known")"])
    }
}
