package import Basics
package import Execution
import Glibc
import JobProtocol
package import Logging
package import Model
package import Settings
package import SourceControl
package import Storage

/// Runs one configuration of an integration to its result, from any state: not started, running since before a restart, or done. Each of its steps
/// can be repeated.
package struct JobRunner: Sendable {
    let store: Store
    package let state: StateDirectory
    let workspaces: Workspaces
    let executor: any Executor
    package let planner: JobPlanner
    let reader: ReaderProgram
    /// Keeps enough room on the disk for the files that this runner writes.
    package let disk: DiskGuard
    let slots: JobSlots
    /// The executors of the settings; `nil` if every job runs on the machine's own, whatever its recipe says.
    let executors: ExecutorChoice?
    let running: RunningJobs
    /// Hands secrets to jobs on nodes of clusters.
    package let handover: SecretHandover
    let archiver: ProductArchiver
    let clock: WallClock
    /// The clock for the pauses between tries.
    let timer: any Clock<Duration>
    package let environment: JobEnvironment
    package let isolation: JobIsolation
    let secrets: SecretStore
    let logger: Logger
    /// Whether it retries without limit if the store temporarily fails or the launcher is gone. If false, the error is thrown; that is for runs whose
    /// result a user waits for.
    let outlastsStore: Bool
    /// The reason why no job has secrets. `nil` if the bot's file decides which jobs have which.
    let secretless: String?
    /// The history of a working tree's jobs, which is not stored in the database. `nil` for other jobs.
    let ownHistory: JobHistory?
    /// A new queue on which a job directory or a workspace is written, read or removed. Each use gets its own, so that no job waits for the disk of
    /// another. There are at most as many at a time as there are jobs.
    package var queue: SerialQueue { SerialQueue(label: "job") }

    var launcher: JobLauncher {
        JobLauncher(executor: executor, timer: timer, logger: logger, outlastsLauncher: outlastsStore)
    }

    /// The pause before a job or an integration is taken up again whose end could not be stored.
    package static let pause = Duration.seconds(5)
    /// The most automatic attempts of one run: one, and one more if the first was lost.
    package static let maximumAttempts = 2

    package init(
        store: Store, state: StateDirectory, workspaces: Workspaces, executor: any Executor, planner: JobPlanner,
        reader: ReaderProgram, slots: JobSlots, archiver: ProductArchiver, clock: WallClock, timer: any Clock<Duration>,
        environment: JobEnvironment, isolation: JobIsolation, secrets: SecretStore, logger: Logger,
        outlastsStore: Bool = true, secretless: String? = nil, ownHistory: JobHistory? = nil,
        executors: ExecutorChoice? = nil
    ) {
        self.store = store
        self.state = state
        self.workspaces = workspaces
        self.executor = executor
        disk = DiskGuard(state: state, workspaces: workspaces, logger: logger)
        self.planner = planner
        self.reader = reader
        self.slots = slots
        running = RunningJobs()
        handover = SecretHandover(clock: clock, logger: logger)
        self.executors = executors
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

    /// The parts of an integration that a job needs.
    package struct Request: Sendable {
        package var integration: IntegrationRecord
        package var bot: BotSpecification
        package var recipe: Recipe
        package var configuration: Recipe.Configuration
        package var mirror: Mirror
        /// Fetches the commit's submodules.
        package var remotes: Remotes
        /// Whether the commit is known to have no submodules, or the bot wants none.
        package var isWithoutSubmodules: Bool
        /// The filter for the tests that the attempt runs, in the form of the test tool; `nil` for all tests.
        package var testFilter: String?

        package init(
            integration: IntegrationRecord, bot: BotSpecification, recipe: Recipe, configuration: Recipe.Configuration,
            mirror: Mirror, remotes: Remotes, isWithoutSubmodules: Bool = false, testFilter: String? = nil
        ) {
            self.integration = integration
            self.bot = bot
            self.recipe = recipe
            self.configuration = configuration
            self.mirror = mirror
            self.remotes = remotes
            self.isWithoutSubmodules = isWithoutSubmodules
            self.testFilter = testFilter
        }
    }

    /// Runs the job to its end.
    /// - Returns: The last attempt as stored.
    /// - Throws: `CancellationError` if the daemon stops; the job continues, and the next daemon takes it up with this function. Any other error is a
    ///   fault of the service, and the attempt is then not processed. A temporary failure of the store is retried, unless `outlastsStore` is false.
    package func run(_ request: Request, cancellation: Cancellation) async throws -> AttemptRecord {
        let job = request.configuration.name
        while true {
            do {
                if let last = try await goOn(request, cancellation: cancellation) { return last }
            } catch let error where mustWait(after: error) {
                // A running job continues under its supervisor, and its results are on the disk. It is taken up again, however long that takes.
                logger.warning(
                    "the result of a job could not be stored; Martlet tries again",
                    metadata: ["integration": "\(request.integration.id)", "job": "\(job)", "error": "\(error)"])
                try await timer.sleep(for: Self.pause)
            }
        }
    }

    /// Whether the store failed temporarily and the operation is to be tried again.
    package func mustWait(after error: any Error) -> Bool {
        outlastsStore && (error as? StoreError)?.isPassing ?? false
    }

    /// Does what is missing of the job's last attempt, or starts the next one.
    /// - Returns: The last attempt if no work is left; `nil` otherwise.
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
        defer {
            handover.close(directory(of: attempt.id))
            if !runsOn { running.end(attempt.id) }
        }
        do {
            try await beginOrTakeUp(attempt, of: request, cancellation: cancellation)
        } catch let error as CancellationError {
            throw error
        } catch let error as StoreError {
            runsOn = mustWait(after: error)
            throw error
        } catch {
            if Task.isCancelled { throw CancellationError() }
            logger.error(
                "a job failed by a fault of Martlet or its machine",
                metadata: ["attempt": "\(attempt.id)", "error": "\(error)"])
            try await finish(attempt.id, verdict: .internalError, reason: "\(error)")
        }
        return nil
    }

    /// Starts an attempt that was not started, as soon as it has a slot. Continues any other attempt.
    private func beginOrTakeUp(
        _ attempt: AttemptRecord, of request: Request, cancellation: Cancellation
    ) async throws {
        let claim = Self.claim(of: request.integration)
        // An attempt that has entered no step was never started: entering is stored before the start.
        let isNew =
            if attempt.state == .queued { true } else {
                try await launcher.liveness(of: directory(of: attempt.id), cancellation) == .notStarted
            }
        guard isNew else {
            // The job runs since before a restart, so it does not wait for a slot: it has one.
            running.takeUp(attempt.id, claim, of: await slots(of: attempt.id))
            return try await takeUp(attempt, of: request, cancellation: cancellation)
        }
        // An earlier try left it in this state, and none of its processes runs.
        running.end(attempt.id)
        let candidate: ExecutorChoice.Candidate?
        do throws(PreparationError) {
            candidate = try await executors?.choose(for: request.configuration)
        } catch {
            return try await finish(attempt.id, verdict: .buildErrors, reason: "\(error)")
        }
        let slots = candidate?.slots ?? slots
        if try await cancellation.interrupting({ try await slots.acquire(claim) }) == nil {
            return try await endUnstarted(attempt.id, cancellation)
        }
        running.begin(attempt.id, claim, of: slots)
        try await begin(attempt, of: request, on: candidate, cancellation: cancellation)
    }

    /// Returns the claim with which an integration's jobs ask for a slot.
    static func claim(of integration: IntegrationRecord) -> JobSlots.Claim {
        JobSlots.Claim(priority: integration.priority, bot: integration.id.bot)
    }

    /// Whether another attempt is made automatically, because the last one's supervisor was lost, the machine was stopping, or the disk was full. The
    /// attempt's directory decides that, because earlier versions stored other reasons.
    private func mayRetry(_ last: AttemptRecord, _ attempts: [AttemptRecord], of request: Request) async -> Bool {
        let run = request.integration.run
        guard last.run == run, last.state.verdict == .internalError,
            attempts.count(where: { $0.run == run }) < Self.maximumAttempts
        else { return false }
        let directory = directory(of: last.id)
        do {
            switch try await executor.liveness(of: directory) {
            case .lost: return await executor.ending(of: directory)?.isLimit != true
            case .finished:
                let events = try await queue.run { try directory.status() }
                let ends = StepEnds(events)
                // The next attempt waits until there is room.
                return ends.outcome == .interrupted || outlastsStore && Self.isOfFullDisk(ends.reason)
            case .notStarted, .waiting, .running: return false
            }
        } catch {
            logger.warning(
                "it cannot be read whether a job was interrupted",
                metadata: ["attempt": "\(last.id)", "error": "\(error)"])
            return false
        }
    }

    /// Whether a supervisor's reason is a full disk: its own words for too little room (`WorkspaceWatch`), or the system's.
    private static func isOfFullDisk(_ reason: String?) -> Bool {
        guard let reason else { return false }
        return reason.hasPrefix("disk full: ") || reason.contains(String(cString: strerror(ENOSPC)))
    }

    /// Ends a canceled attempt that was not started here. An earlier daemon may have requested its start.
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
    static let lostReason = "the supervisor exited without a result; the workspace was made again"

    func directory(of id: AttemptID) -> AttemptDirectory {
        AttemptDirectory(path: state.attempt(id.integration, job: id.job, attempt: id.attempt))
    }

    /// Prepares a job that has a slot, starts it, and follows it to its end.
    private func begin(
        _ attempt: AttemptRecord, of request: Request, on candidate: ExecutorChoice.Candidate?,
        cancellation: Cancellation
    ) async throws {
        let (id, directory) = (attempt.id, directory(of: attempt.id))
        if await cancellation.requested != nil { return try await endUnstarted(id, cancellation) }
        // The integration was prepared by a daemon that had a sandbox.
        if request.integration.pull != nil, isolation.isolation != .sandbox {
            return try await finish(id, verdict: .canceled, reason: JobIsolation.pullRequestReason)
        }
        guard try await hasRoom(for: request.integration.id, cancellation) else {
            return try await endUnstarted(id, cancellation)
        }
        let workspace = await acquireWorkspace(id, request, beneath: candidate?.work)
        let plan: JobPlanner.Plan
        do {
            let ready = try await prepare(id, request, in: workspace, on: candidate, cancellation)
            // An earlier daemon may have requested to start a job whose preparation has since been discarded.
            if ready == nil { try await launcher.withdraw(directory, because: await reason(of: cancellation)) }
            guard let ready,
                try await launcher.start(
                    directory, secrets: ready.secrets, cancellation,
                    explain: { await store.explainWait(of: id.integration, $0, logger) })
            else {
                await release(workspace)
                return try await finish(id, verdict: .canceled, reason: await reason(of: cancellation))
            }
            plan = ready.plan
        } catch {
            if let error = error as? ExecutionError, error.code == .exists {
                return await abandon(workspace, to: directory)
            }
            await release(workspace)
            switch error {
            case let error as SourceControlError where error.code != .canceled && !Task.isCancelled:
                return try await finish(id, verdict: .checkoutError, reason: "\(error)")
            case let error as PreparationError:
                return try await finish(id, verdict: .buildErrors, reason: "\(error)")
            default: throw error
            }
        }
        try await complete(attempt, directory, plan: plan, workspace, request, cancellation)
    }

    /// Leaves a workspace to a job that a delayed launcher has just started at an earlier daemon's request. The job runs, and is followed.
    /// - Parameter workspace: The workspace that was prepared meanwhile.
    private func abandon(_ workspace: Workspace, to directory: AttemptDirectory) async {
        // A job whose file cannot be read is found to be lost when it is taken up.
        let job = await queue.run { try? directory.job() }
        let own = job.flatMap { Workspace(tree: $0.workspace) }
        if let own { await workspaces.reacquire(own) }
        if own != workspace { await release(workspace) }
    }

    /// Continues an attempt that runs or has ended since before a restart. The job directory states its steps and its workspace.
    private func takeUp(_ attempt: AttemptRecord, of request: Request, cancellation: Cancellation) async throws {
        let directory = directory(of: attempt.id)
        let description: JobDescription
        do {
            description = try await queue.run { try directory.job() }
        } catch let error as ExecutionError where error.code == .malformed || error.code == .notFound {
            // Power was lost before the job's file was on the disk. Its supervisor is gone, and there is no record of which of the configuration's
            // workspaces it used.
            guard try await executor.liveness(of: directory) == .lost else { throw error }
            try await discardWorkspaces(of: attempt.id)
            return try await finish(attempt.id, verdict: .internalError, reason: Self.lostReason)
        }
        guard let workspace = Workspace(tree: description.workspace) else {
            let reason = "the job directory \(directory.path) names no workspace"
            return try await finish(attempt.id, verdict: .internalError, reason: reason)
        }
        await workspaces.reacquire(workspace)
        try await openSecrets(of: directory, request)
        let plan = JobPlanner.plan(
            of: description, configuration: request.configuration, recipe: request.recipe)
        try await complete(attempt, directory, plan: plan, workspace, request, cancellation)
    }

    /// Stores the end of an attempt without the results of a job.
    func finish(_ id: AttemptID, verdict: Verdict, reason: String) async throws {
        var results = AttemptResults(analysis: "not run", tested: "not run", verdict: verdict, reason: reason)
        // The mistake is in the recipe, so it is an error like those that are found earlier.
        if verdict == .buildErrors { results.addPreparationError(reason) }
        try await store.storeResults(results, of: id, at: clock.now())
        if verdict == .internalError { tellFault(of: id, reason) }
    }

    /// Logs a fault of a job that was the machine's or the service's, for the operator.
    func tellFault(of id: AttemptID, _ reason: String?) {
        logger.warning(
            "a job ended without a result, not by a fault of its code",
            metadata: ["attempt": "\(id)", "reason": "\(reason ?? "not known")"])
    }
}
