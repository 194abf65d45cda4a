import Basics
import Execution
import JobProtocol
package import Model
import SourceControl
import Storage

extension JobRunner {
    /// Waits until the disk has room for a job. Called before a workspace is taken, because a taken workspace could not be removed to make room.
    /// - Returns: `false` if the integration is canceled meanwhile.
    func hasRoom(for integration: IntegrationID, _ cancellation: Cancellation) async throws -> Bool {
        guard await disk.look().shortage != nil else { return true }
        return try await cancellation.interrupting { try await awaitRoom(for: integration) } != nil
    }

    /// - Parameter work: The directory of a cluster's nodes for workspaces; `nil` for the machine's own.
    func acquireWorkspace(_ id: AttemptID, _ request: Request, beneath work: String?) async -> Workspace {
        await workspaces.acquire(
            bot: request.bot.name, configuration: id.job, domain: Workspaces.TrustDomain(request.integration),
            grants: Self.grants(of: request), beneath: work)
    }

    /// A job that can be started.
    struct ReadyJob {
        var plan: JobPlanner.Plan
        /// The secrets by variable. They are passed through the launch socket alone, or fetched by the node.
        var secrets: [String: String]
    }

    /// Prepares an attempt to be started: its secrets, the commit in its workspace, and its directory. Tries again if a full disk or a damaged
    /// workspace prevented it.
    /// - Returns: `nil` if the checkout was interrupted, because the integration is canceled.
    func prepare(
        _ id: AttemptID, _ request: Request, in workspace: Workspace, on candidate: ExecutorChoice.Candidate?,
        _ cancellation: Cancellation
    ) async throws -> ReadyJob? {
        var tries = 0
        while true {
            tries += 1
            do {
                let secrets = try await secretValues(of: request, domain: Workspaces.TrustDomain(request.integration))
                // Removes files that a killed daemon left of another job.
                if workspace.isThrowaway { try await discard(workspace) }
                if let candidate, candidate.isCluster {
                    // Slurm keeps and shows scripts and environments, and the shared directory keeps files: the node fetches the secrets.
                    let token = try secretToken(for: secrets, at: candidate.name)
                    let plan = try await prepareForNode(id, request, in: workspace, on: candidate, token)
                    try await openSecrets(of: directory(of: id), request)
                    return ReadyJob(plan: plan, secrets: secrets)
                }
                let plan = try await prepare(id, directory(of: id), workspace, request, cancellation)
                return plan.map { ReadyJob(plan: $0, secrets: secrets) }
            } catch {
                guard
                    await mustPrepareAgain(
                        workspace, after: error, tries: tries, for: request.integration.id, cancellation)
                else { throw error }
            }
        }
    }

    /// Checks the commit out, and writes the job directory.
    /// - Returns: The job to run; `nil` if the checkout was interrupted, because the integration is canceled.
    private func prepare(
        _ id: AttemptID, _ directory: AttemptDirectory, _ workspace: Workspace, _ request: Request,
        _ cancellation: Cancellation
    ) async throws -> JobPlanner.Plan? {
        // This is stored during the checkout, and before any process of the job is started.
        let (objects, entered) = (request.mirror.objects, clock.now())
        async let isStored: Void = enter(id, at: entered)
        async let isMade: Void = queue.run { try directory.make() }
        let (place, isClean) = try await queue.run {
            let place = try self.place(
                of: request.configuration, bot: request.bot.name, in: workspace, objects: objects)
            let isClean =
                request.integration.isClean
                || request.bot.clean != .never
                    && request.bot.clean.isDue(cleaned: workspace.lastCleaned, now: entered)
                || workspace.isMoved(mark: place.mark)
            return (place, isClean)
        }
        let history = try await history(of: request)
        let report = try await cancellation.interrupting {
            try await mendingCheckout(request, workspace, history.upstream, isClean: isClean)
        }
        try await isMade
        try await isStored
        guard let report else { return nil }
        let (isFresh, now) = (isClean || report.isFresh, clock.now())
        return try await queue.run {
            try arrange(
                directory, workspace, request, place, report.files, base: history.base, isFresh: isFresh, at: now)
        }
    }

    func enter(_ id: AttemptID, at time: Timestamp) async throws {
        try await store.apply(.entered(.checkout), to: id, at: time, isolation: isolation.isolation)
    }

    private static let mendable: Set<SourceControlError.Code> = [.mirrorDamaged, .submoduleDamaged, .commitMissing]

    /// Checks the commit out, even if the mirror has lost some of its objects.
    private func mendingCheckout(
        _ request: Request, _ workspace: Workspace, _ upstream: UpstreamRefs, isClean: Bool
    ) async throws -> CheckoutReport {
        do {
            return try await checkout(request, workspace, upstream, isClean: isClean)
        } catch let error as SourceControlError where Self.mendable.contains(error.code) {
            // A damaged mirror does not mean that the commit is damaged. The lost objects are fetched again, once.
            let commit = request.integration.commit
            try await request.mirror.fetch(request.integration)
            try await request.remotes.fetchSubmodules(of: commit, in: request.mirror, for: request.bot)
            return try await checkout(request, workspace, upstream, isClean: isClean)
        }
    }

    private func checkout(
        _ request: Request, _ workspace: Workspace, _ upstream: UpstreamRefs, isClean: Bool
    ) async throws -> CheckoutReport {
        let submodules =
            if request.isWithoutSubmodules { [Submodule]() } else {
                try await request.remotes.submodules(
                    of: request.integration.commit, in: request.mirror, for: request.bot)
            }
        return try await request.mirror.checkout(
            request.integration.commit, ref: request.integration.ref, into: workspace.tree, state: workspace.state,
            isClean: isClean, kept: JobPlanner.keptDirectories(request.recipe.projectType(of: request.configuration)),
            submodules: submodules,
            upstream: upstream, acceptsPointers: request.bot.acceptsPointers == true)
    }

    /// Prepares everything in a checked-out workspace that does not belong to git.
    private func arrange(
        _ directory: AttemptDirectory, _ workspace: Workspace, _ request: Request, _ place: Place,
        _ files: CheckedOutFiles, base: CommitID?, isFresh: Bool, at now: Timestamp
    ) throws -> JobPlanner.Plan {
        try workspace.recordCheckout(isFresh: isFresh, mark: place.mark, at: now)
        let plan = makePlan(request, workspace)
        guard !plan.steps.isEmpty else {
            throw PreparationError.nothingToDo(configuration: request.configuration.name)
        }
        try workspace.makeRoom(isSandboxed: place.sandbox != nil)
        try directory.prepare(
            description(of: plan, request, workspace, place, base: base, limits: isolation.limits(of: request.bot)),
            tracked: files.matching(plan.steps.flatMap(\.report)))
        return plan
    }

    /// Returns what a supervisor runs.
    func description(
        of plan: JobPlanner.Plan, _ request: Request, _ workspace: Workspace, _ place: Place, base: CommitID?,
        limits: JobDescription.Limits
    ) -> JobDescription {
        let projectType = request.recipe.projectType(of: request.configuration)
        let environments = JobPlanner.environments(
            environment.job(
                request.integration, bot: request.bot, configuration: request.configuration,
                in: place.environment, base: base, projectType: projectType),
            steps: plan.steps, configuration: request.configuration, projectType: projectType)
        return JobDescription(
            steps: environments.steps, environment: environments.job,
            workspace: workspace.tree, mountedAt: place.mountedAt,
            secrets: Set(plan.steps.flatMap(\.secrets)).sorted(),
            isolation: place.sandbox == nil ? .none : .sandbox, sandbox: place.sandbox,
            limits: limits, collect: plan.collect)
    }

    private func makePlan(_ request: Request, _ workspace: Workspace) -> JobPlanner.Plan {
        plan(
            request.configuration, of: request.recipe,
            files: WorkspaceFiles(tree: try? Directory(opening: workspace.tree)), bot: request.bot,
            ref: request.integration.ref, testFilter: request.testFilter, pull: request.integration.pull)
    }
}

extension CheckedOutFiles {
    /// Returns the files that one of the patterns matches, sorted by path.
    func matching(_ patterns: [String]) -> [[UInt8]] {
        let parsed = Set(patterns).compactMap { PathPattern($0) }
        // Most patterns name one file, or begin with a directory that no commit has. Then no path has to be matched.
        var found = Set(parsed.compactMap(\.literal).filter(contains))
        let wide = parsed.filter { $0.literal == nil }.map { (pattern: $0, start: $0.literalStart) }
        if !wide.isEmpty {
            for path in paths where wide.contains(where: { path.starts(with: $0.start) && $0.pattern.matches(path) }) {
                found.insert(path)
            }
        }
        return found.sorted { $0.lexicographicallyPrecedes($1) }
    }
}

extension BotSpecification.Clean {
    /// Whether a workspace is emptied before the next checkout.
    /// - Parameter cleaned: When it was last emptied; `nil` if there is no record, because the workspace is new or was made by other means. Emptying
    ///   is safe, so a missing record means that the interval is over. So does a record in the future, which is due to a clock that was set back and
    ///   would otherwise count as long as the clock is wrong.
    package func isDue(cleaned: Timestamp?, now: Timestamp) -> Bool {
        let interval: Duration
        switch self {
        case .never: return false
        case .always: return true
        case .daily: interval = .seconds(86_400)
        case .weekly: interval = .seconds(7 * 86_400)
        }
        guard let cleaned, cleaned <= now else { return true }
        return now - cleaned >= interval
    }
}
