package import Basics
package import Execution
import Foundation
package import Jobs
import Logging
import Model
import Settings
import SourceControl
package import Storage

/// Runs a working tree with the daemon's engine, but without a daemon. The tree on the disk becomes a commit. The commit becomes an integration in a
/// separate store in the cache, so that each run is compared with the previous one.
///
/// No file in the working tree is written. One run at a time works on a tree, and the number of files that runs leave is bounded.
package final class WorkingTreeRun: Sendable {
    /// The parts that a run is built from.
    package struct Parts: Sendable {
        /// The directory in which the command was called. The working tree around it is run.
        package var directory: String
        /// The absolute path of `$XDG_CACHE_HOME/martlet/run`.
        package var caches: String
        /// The user's environment, of which jobs inherit few variables.
        package var environment: [String: String]
        /// The absolute path of `martlet-supervisor`.
        package var supervisor: String
        /// The absolute path of `martlet-tools`.
        package var tools: String
        /// Reads reports and logs.
        package var reader: ReaderProgram
        /// The most configurations that run at a time, at least 1.
        package var concurrency: Int
        /// Determines how jobs are isolated. It runs while the tree's cache is opened and the launcher starts.
        package var isolation: @Sendable () async throws -> JobIsolation
        /// The wall clock, which a test replaces.
        package var clock: WallClock

        /// Creates the parts of a run.
        package init(
            directory: String, caches: String, environment: [String: String], supervisor: String, tools: String,
            reader: ReaderProgram,
            concurrency: Int = 1, isolation: @escaping @Sendable () async throws -> JobIsolation,
            clock: WallClock = .system
        ) {
            self.directory = directory
            self.caches = caches
            self.environment = environment
            self.supervisor = supervisor
            self.tools = tools
            self.reader = reader
            self.concurrency = concurrency
            self.isolation = isolation
            self.clock = clock
        }
    }

    /// The root of the working tree.
    package let root: String
    /// Cancels the run.
    package let cancellation = Cancellation()
    let parts: Parts
    let cache: RunCache
    let store: Store
    let launcher: PrivateLauncher
    let isolation: JobIsolation
    private let tree: WorkingTree
    private let lock: FileLock

    /// The number of runs of a directory that are kept, with their logs. Older ones are removed.
    package static let keptRuns = 10

    /// Locks the tree's cache and starts a launcher. `close()` releases both.
    /// - Throws: `RunError`; `SourceControlError` for a directory that cannot be read as a tree; `StoreError`, `ExecutionError`; the errors of
    ///   `Parts.isolation`.
    package init(_ parts: Parts) async throws {
        self.parts = parts
        async let decided = parts.isolation()
        let queue = SerialQueue(label: "run")
        let home = parts.environment["HOME"]
        let opened = try await queue.run {
            let root: String
            do throws(SourceControlError) {
                root = try WorkingTree.root(of: parts.directory, home: home)
            } catch {
                // There is no underlying error, so the directory does not exist or has no working tree.
                guard error.underlying == nil else { throw error }
                throw RunError(.notFound, "\(parts.directory): \(error.message)")
            }
            let cache = RunCache(of: root, in: parts.caches)
            let lock = try cache.open(for: root)
            RunCache.prune(parts.caches, now: parts.clock.now())
            return (root: root, cache: cache, lock: lock, store: try Self.openStore(cache.state))
        }
        (root, cache, lock, store) = (opened.root, opened.cache, opened.lock, opened.store)
        tree = WorkingTree(path: root, repository: cache.snapshots, excluding: [parts.caches, cache.state.path])
        do {
            launcher = try await PrivateLauncher(socket: cache.state.launcherSocket, supervisor: parts.supervisor)
        } catch {
            try opened.store.close()
            throw error
        }
        do {
            isolation = try await decided
        } catch {
            await launcher.end()
            try opened.store.close()
            throw error
        }
    }

    /// Opens the store. A file that another version wrote, or that is damaged, is discarded, because it is a cache. The files that its rows refer to
    /// are removed with it, because numbers start again.
    private static func openStore(_ state: StateDirectory) throws -> Store {
        do throws(StoreError) {
            return try Store.open(path: state.database)
        } catch {
            guard error.code == .newerSchema || error.code == .corrupt else { throw error }
            // The integrations' files go first. If this is interrupted, the next run finds the same damaged database and repeats it.
            try Directory(opening: state.integrations).removeContents()
            for suffix in ["", "-wal", "-shm"] { unlink(state.database + suffix) }
            return try Store.open(path: state.database)
        }
    }

    /// Ends the launcher with all running jobs, and closes the store.
    package func close() async throws {
        await launcher.end()
        try store.close()
    }

    /// Kills all running jobs at once, and returns when they have exited. No run can be started afterwards.
    package func kill() async { await launcher.end() }

    /// Returns the selection of the last run.
    /// - Throws: `RunError.notFound` if there was none.
    package func lastSelection() throws -> RunSelection { try cache.lastSelection(of: root) }

    /// The name of the bot of the tree's integrations: the name of the directory.
    var bot: Name { Name(nearest: root.split(separator: "/").last ?? "root") }

    /// Runs the selection to its end.
    /// - Parameters:
    ///   - isClean: Whether the workspaces are emptied first.
    ///   - began: Called with the integration before any job starts.
    /// - Throws: `RunError`; `SourceControlError` if the tree cannot be read; `StoreError`. Later failures are results.
    package func run(
        _ selection: RunSelection, isClean: Bool = false, began: (RunBeginning) async -> Void = { _ in }
    ) async throws -> WorkingTreeResult {
        let name = bot
        let specification = BotSpecification(name: name, repository: root, acceptsPointers: true)
        try await store.register([specification], at: parts.clock.now())
        let snapshot = try await snapshot()
        // Results and build products of an earlier repository at this path do not count.
        let isClean = isClean || snapshot.isOfAnotherRepository
        let runner = try makeRunner(objects: snapshot.objects, history: await history(of: snapshot))
        let reading = try await runner.recipe(of: snapshot.commit, bot: specification, mirror: tree.mirror)
        let chosen = try reading.value.map { try choose(selection, of: $0) }
        guard await cancellation.requested == nil else { throw Self.canceled }
        // A comparison with a run of another repository would be meaningless. Old runs are removed only once the run is known to be possible, so that
        // a mistyped name causes no removal.
        try await tidy(
            isComparable: selection == (try? cache.lastSelection(of: root)) && !snapshot.isOfAnotherRepository)
        let record = try await store.queue(
            NewIntegration(
                bot: name, ref: snapshot.ref, commit: snapshot.commit, cause: .person,
                requestedBy: parts.environment["USER"], isClean: isClean), at: parts.clock.now())
        if let chosen, reading.errors.isEmpty {
            let details = try await tree.mirror.details(of: snapshot.commit)
            try await store.recordPreparation(
                of: record.id,
                Store.Preparation(
                    recipe: chosen.recipe,
                    commit: CommitSummary(
                        subject: details.subject, author: details.authorName, committedAt: details.committedAt,
                        tree: details.tree)), at: parts.clock.now())
            for job in chosen.filtered {
                _ = try await store.addAttempt(
                    to: record.id, job: job, testFilter: selection.tests, at: parts.clock.now())
            }
        }
        if await cancellation.requested == nil { try cache.remember(selection) }
        await began(
            RunBeginning(
                id: record.id, root: root, snapshot: snapshot, isolation: isolation.isolation,
                notes: [reading.value?.recognition?.sentence].compactMap(\.self) + (chosen?.notes ?? [])
                    + (snapshot.isOfAnotherRepository
                        ? [
                            "the repository that was run here before was another one; its results and build products do not count"
                        ] : [])
                    + snapshot.emptySubmodules.map { "submodule \($0) is not initialized and was left empty" }
                    + isolation.notes,
                watch: RunWatch(id: record.id, store: store, state: cache.state)))
        // The runner waits for no server, because the commit is a local snapshot.
        guard await runner.run(record.id, cancellation: cancellation) == .stored else {
            throw RunError(
                .cache,
                "what \(record.id) came to could not be stored in \(cache.state.path); free space there, or set XDG_CACHE_HOME"
            )
        }
        // This comes last: after a run that was killed earlier, the next one still detects another repository and empties its workspaces.
        try cache.remember(head: snapshot.head)
        return try await WorkingTreeResult(record.id, store: store, state: cache.state)
    }

    private func snapshot() async throws -> WorkingTreeSnapshot {
        let tree = tree
        let before = cache.lastHead
        let snapshot = try await cancellation.interrupting { try await tree.snapshot(since: before) }
        guard let snapshot else { throw Self.canceled }
        return snapshot
    }

    /// Returns the history with the base of the change: the uncommitted files, and the commits that are not in the default branch.
    private func history(of snapshot: WorkingTreeSnapshot) async -> JobHistory {
        var history = JobHistory(upstream: snapshot.upstream, base: snapshot.isChanged ? snapshot.head : nil)
        if let branch = snapshot.upstream.defaultBranch, let commit = snapshot.upstream.branches[branch],
            snapshot.head != nil, let base = await JobRunner.fork(of: commit, snapshot.commit, tree.mirror)
        {
            history.base = base
        }
        return history
    }

    private static let canceled = RunError(.canceled, "it was canceled before anything was run")

    /// The parts of a recipe that are run.
    private struct Choice {
        var recipe: Recipe
        /// The configurations whose tests are chosen by a filter.
        var filtered: [Name] = []
        var notes: [String] = []
    }

    private func choose(_ selection: RunSelection, of recipe: Recipe) throws -> Choice {
        var recipe = recipe
        // Products are for publishing, and a working tree does not publish.
        recipe.archive = Recipe.Archive(include: [])
        if !selection.configurations.isEmpty {
            let names = recipe.configurations.map(\.name)
            if let unknown = selection.configurations.first(where: { !names.contains($0) }) {
                throw RunError(
                    .unknownConfiguration,
                    "there is no configuration \(unknown) in \(root); there is "
                        + names.map(\.description).joined(separator: ", "))
            }
            recipe.configurations = recipe.configurations.filter { selection.configurations.contains($0.name) }
        }
        var choice = Choice(recipe: recipe)
        guard selection.tests != nil else { return choice }
        for configuration in recipe.configurations {
            if let reason = JobPlanner.whyNoFilter(configuration, recipe: recipe) {
                choice.notes.append("\(configuration.name) runs all of its tests: \(reason)")
            } else {
                choice.filtered.append(configuration.name)
            }
        }
        return choice
    }

    /// The reason why no job has secrets: there is no bot file, and only a bot file grants secrets.
    private static let secretless = """
        `martlet run` gives no secrets, because it reads no bot file; push the commit and let the bot run it, or choose configurations that ask for \
        none with --configuration
        """

    /// - Parameter objects: The directories that the snapshots' objects refer to, and that a job's `.git` leads to.
    private func makeRunner(objects: [String], history: JobHistory) throws -> IntegrationRunner {
        var isolation = isolation
        if case .sandbox = isolation.isolation { isolation.readOnly += objects }
        let secrets = SecretStore(directory: nil, credentialsDirectory: nil)
        // Failures are part of the result, which is printed.
        let logger = Logger(label: "martlet.run") { _ in SwiftLogNoOpLogHandler() }
        let jobs = JobRunner(
            store: store, state: cache.state, workspaces: Workspaces(root: cache.state.workspaces),
            executor: launcher.executor, planner: JobPlanner(tools: parts.tools), reader: parts.reader,
            slots: JobSlots(count: parts.concurrency), archiver: ProductArchiver(state: cache.state),
            clock: parts.clock, timer: ContinuousClock(),
            environment: JobEnvironment(daemon: parts.environment, url: ""),
            isolation: isolation, secrets: secrets, logger: logger, outlastsStore: false,
            secretless: Self.secretless, ownHistory: history)
        let settings = ServiceSettings(state: cache.state.path, bots: "", concurrency: parts.concurrency)
        let registry = BotRegistry(
            directory: nil, settings: settings, secrets: secrets, isolation: isolation.isolation, version: "")
        return IntegrationRunner(
            store: store, registry: registry, remotes: Remotes(mirror: tree.mirror), jobs: jobs, triggers: nil,
            circuitBreaker: CircuitBreaker(clock: parts.clock, timer: ContinuousClock(), signal: Signal()),
            clock: parts.clock,
            logger: logger, findsSuspects: false)
    }

    /// Ends the rows of a run that was killed, and removes runs that are older than the kept ones. Removes all rows if the next run must not be
    /// compared with them.
    private func tidy(isComparable: Bool) async throws {
        for record in try await store.queued() + store.running() {
            try await store.apply(
                .completed(.canceled, triggerFailed: false), to: record.id, at: parts.clock.now(),
                reason: "it was killed")
        }
        guard let latest = try await store.latestIntegration(of: bot)?.id.number else { return }
        let oldest = latest - Self.keptRuns + 2
        try await store.removeIntegrations(of: bot, below: isComparable ? oldest : latest + 1)
        let (bot, integrations) = (bot, cache.state.integrations)
        let removed = try await SerialQueue(label: "run").run {
            let directory = try Directory(opening: integrations)
            guard try directory.status("\(bot)") != nil else { return [Int]() }
            let numbers = try directory.entries("\(bot)").compactMap { Int($0.name) }.filter { $0 < oldest }
            for number in numbers { try directory.remove("\(bot)/\(number)") }
            return numbers
        }
        for number in removed { try await tree.mirror.release(IntegrationID(bot: bot, number: number)) }
    }
}
