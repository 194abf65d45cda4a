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

    func acquireWorkspace(_ id: AttemptID, _ request: Request) async -> Workspace {
        await workspaces.acquire(
            bot: request.bot.name, configuration: id.job, domain: Workspaces.TrustDomain(request.integration),
            grants: Self.grants(of: request))
    }

    /// A job that can be started.
    struct ReadyJob {
        var plan: JobPlanner.Plan
        /// The secrets by variable. They are passed through the launch socket alone.
        var secrets: [String: String]
    }

    /// Prepares an attempt to be started: its secrets, the commit in its workspace, and its directory. Tries again if a full disk or a damaged
    /// workspace prevented it.
    /// - Returns: `nil` if the checkout was interrupted, because the integration is canceled.
    func prepare(
        _ id: AttemptID, _ request: Request, in workspace: Workspace, _ cancellation: Cancellation
    ) async throws -> ReadyJob? {
        var tries = 0
        while true {
            tries += 1
            do {
                let secrets = try await secretValues(of: request, domain: Workspaces.TrustDomain(request.integration))
                // Removes files that a killed daemon left of another job.
                if workspace.isThrowaway { try await discard(workspace) }
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
                    && request.bot.clean.isDue(cleaned: lastCleaned(workspace), now: entered)
                || isMoved(workspace, mark: place.mark)
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

    private func enter(_ id: AttemptID, at time: Timestamp) async throws {
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
        let outer = try Directory(opening: workspace.path)
        if isFresh {
            try AtomicFile.write(
                Array("\(now.millisecondsSinceEpoch)".utf8), to: workspace.cleaned, surviving: .kill)
            // The earlier build products are gone, so the warnings stored for them are removed, too.
            try outer.remove("warnings.json")
        }
        if isMoved(workspace, mark: place.mark) {
            try AtomicFile.write(Array(place.mark.utf8), to: workspace.mounted, surviving: .kill)
        }
        let plan = makePlan(request, workspace)
        guard !plan.steps.isEmpty else {
            throw PreparationError.nothingToDo(configuration: request.configuration.name)
        }
        let tree = try Directory(opening: workspace.tree)
        // A job, or the repository itself, may have put a file or a link at this path.
        if let own = try tree.status(JobPlanner.ownDirectory), own.kind != .directory {
            try tree.remove(JobPlanner.ownDirectory)
        }
        try tree.remove(JobPlanner.ownDirectory + "/products")
        try tree.makeEmptyDirectory(JobPlanner.ownDirectory + "/test")
        try outer.makeEmptyDirectory("tmp", mode: 0o700)
        if place.sandbox != nil { try outer.makeEmptyDirectory(Workspace.homeName, mode: 0o700) }
        let environments = JobPlanner.environments(
            environment.job(
                request.integration, bot: request.bot, configuration: request.configuration,
                in: place.environment, base: base, projectType: request.recipe.projectType(of: request.configuration)),
            steps: plan.steps,
            configuration: request.configuration,
            projectType: request.recipe.projectType(of: request.configuration))
        try directory.prepare(
            JobDescription(
                steps: environments.steps, environment: environments.job,
                workspace: workspace.tree, mountedAt: place.mountedAt,
                secrets: Set(plan.steps.flatMap(\.secrets)).sorted(),
                isolation: place.sandbox == nil ? .none : .sandbox, sandbox: place.sandbox,
                limits: isolation.limits(of: request.bot),
                collect: plan.collect), tracked: files.matching(plan.steps.flatMap(\.report)))
        return plan
    }

    private func makePlan(_ request: Request, _ workspace: Workspace) -> JobPlanner.Plan {
        plan(
            request.configuration, of: request.recipe,
            files: WorkspaceFiles(tree: try? Directory(opening: workspace.tree)), bot: request.bot,
            ref: request.integration.ref, testFilter: request.testFilter, pull: request.integration.pull)
    }

    private func lastCleaned(_ workspace: Workspace) -> Timestamp? {
        // A missing or unreadable file counts as no record.
        guard let bytes = try? WholeFile.read(workspace.cleaned, limit: 64) else { return nil }
        return Int64(String(decoding: bytes, as: UTF8.self)).map(Timestamp.init(millisecondsSinceEpoch:))
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
