package import Basics
package import Jobs
package import Logging
package import Model
package import Notifications
import SourceControl
package import Storage

/// Scans repositories for moved refs: at most one scan of a repository at a time, and as many at once as `ScanQueue` allows. A request during a scan
/// causes another one. A scan fetches the commits that integrations will need, as far as that is quick (`Mirror.scan`).
package actor RepositoryScans {
    private let store: Store
    let registry: BotRegistry
    private let remotes: Remotes
    private let clock: WallClock
    private let timer: any Clock<Duration>
    private let signal: Signal
    private let cancel: Cancel
    private let mayFetch: @Sendable () -> Bool
    let logger: Logger
    private let marks: CrashMarks?
    private let access: RefusedAccess

    private var queue = ScanQueue()
    /// The failed request of each repository, and its backoff. A newer request does not wait for the pause.
    private var pauses: [String: (sequence: Int64, backoff: Backoff)] = [:]

    /// The pause after a failed scan, which is doubled each time.
    static let firstPause = Duration.seconds(2)
    static let longestPause = Duration.seconds(300)

    /// The repositories that may have been requested again while they were scanned.
    private var mustRead: Set<String> = []

    private struct Pause {
        /// The request that failed. If `nil`, the pause is for announced heads; without `deliveries`, it is for reading the requests again.
        var request: ScanRequest?
        var deliveries: [Int64]?
        var length: Duration
    }
    private let paused: AsyncStream<Pause>
    private let pausing: AsyncStream<Pause>.Continuation

    /// The mirrors with many packs, which are repacked one after the other beside the scans. If the buffer is full, the next scan adds the mirror
    /// again.
    let crowded: AsyncStream<Mirror>
    private let crowding: AsyncStream<Mirror>.Continuation
    private static let maximumCrowded = 64

    /// Cancels a run of an integration, for a reason.
    package typealias Cancel = @Sendable (_ id: IntegrationID, _ run: Int, _ reason: String) async throws -> Void

    /// - Parameters:
    ///   - mayFetch: Returns whether there is room for commits. If not, scans only list refs.
    ///   - access: Where refused credentials are recorded.
    ///   - cancel: Called for running integrations of closed pull requests. If it fails, it is called again after the next scan.
    package init(
        store: Store, registry: BotRegistry, remotes: Remotes, clock: WallClock, timer: any Clock<Duration>,
        signal: Signal, logger: Logger, marks: CrashMarks? = nil, mayFetch: @escaping @Sendable () -> Bool = { true },
        access: RefusedAccess = RefusedAccess(), cancel: @escaping Cancel = { _, _, _ in }
    ) {
        self.access = access
        self.cancel = cancel
        self.mayFetch = mayFetch
        self.marks = marks
        self.store = store
        self.registry = registry
        self.remotes = remotes
        self.clock = clock
        self.timer = timer
        self.signal = signal
        self.logger = logger
        // There is at most one element for each repository and each awaited head (`RefScan` limits these).
        (paused, pausing) = AsyncStream.makeStream(bufferingPolicy: .unbounded)
        (crowded, crowding) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.maximumCrowded))
    }

    /// Scans at each notification, until the notifications end or the task is canceled.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.waitOutPauses() }
            group.addTask { await self.repackCrowded() }
            // The pauses of an earlier daemon ended with it.
            await scanAgain(for: nil)
            for await _ in signal.notifications {
                await readRequests()
                while let request = queue.next() {
                    group.addTask {
                        // The task takes the next request itself, without reading the requests again.
                        var current: ScanRequest? = request
                        while let request = current {
                            await self.scan(request)
                            current = await self.following(request)
                        }
                    }
                }
            }
            group.cancelAll()
        }
    }

    private func readRequests() async {
        do {
            for request in try await store.repositoriesToScan()
            where pauses[request.repository]?.sequence != request.sequence && !queue.add(request) {
                mustRead.insert(request.repository)
            }
        } catch {
            logger.error("the list of repositories to scan could not be read", metadata: ["error": "\(error)"])
            // There may be no other notification.
            pausing.yield(Pause(length: Self.firstPause))
        }
    }

    private func following(_ request: ScanRequest) -> ScanRequest? {
        queue.end(request)
        if mustRead.remove(request.repository) != nil { signal.notify() }
        return Task.isCancelled ? nil : queue.next()
    }

    private func scan(_ request: ScanRequest) async {
        let (failure, retryAfter): (String, Duration?)
        switch await markedResult(of: request) {
        case .scanned(let isRequestedAgain):
            pauses[request.repository] = nil
            access.record(nil, by: .scan(request.repository))
            if isRequestedAgain { mustRead.insert(request.repository) }
            return
        case .failed(let reason, let after): (failure, retryAfter) = (reason, after)
        }
        guard !Task.isCancelled else { return }
        logger.warning("a scan failed", metadata: ["repository": "\(request.repository)", "error": "\(failure)"])
        // This comes before any `await`, so that a notification meanwhile finds the pause.
        var backoff = pauses[request.repository]?.backoff ?? Backoff(first: Self.firstPause, limit: Self.longestPause)
        let pause = max(backoff.next(), retryAfter ?? .zero)
        pauses[request.repository] = (request.sequence, backoff)
        mustRead.insert(request.repository)
        do {
            try await store.scanFailed(request, reason: failure, at: clock.now())
        } catch {
            logger.error("a failed scan could not be stored", metadata: ["error": "\(error)"])
        }
        pausing.yield(Pause(request: request, length: pause))
    }

    private func waitOutPauses() async {
        await withDiscardingTaskGroup { group in
            for await pause in paused {
                group.addTask {
                    // The task is canceled: the daemon stops.
                    do { try await self.timer.sleep(for: pause.length) } catch { return }
                    await self.end(pause)
                }
            }
            group.cancelAll()
        }
    }

    private func end(_ pause: Pause) async {
        guard let request = pause.request else {
            if let deliveries = pause.deliveries { return await scanAgain(for: deliveries) }
            return signal.notify()
        }
        if let current = pauses[request.repository], current.sequence == request.sequence {
            // No request has the sequence zero. So the next round accepts the request, and the backoff is kept.
            pauses[request.repository] = (0, current.backoff)
        }
        signal.notify()
    }

    private func end(_ closed: [ScanOutcome.ClosedIntegration]) async {
        for closed in closed {
            do {
                try await cancel(closed.id, closed.run, closed.reason)
            } catch {
                // The scan is stored, and the next one cancels it.
                logger.error(
                    "integrations of closed pull requests could not be ended",
                    metadata: ["integration": "\(closed.id)", "error": "\(error)"])
            }
        }
    }

    private func scanLater(for awaited: [ScanOutcome.Awaited]) {
        for (pause, together) in Dictionary(grouping: awaited, by: \.pause) {
            pausing.yield(Pause(deliveries: together.map(\.delivery), length: pause))
        }
    }

    private func scanAgain(for deliveries: [Int64]?) async {
        do {
            if try await store.scanAgain(for: deliveries) { signal.notify() }
        } catch {
            // They wait for the next start. Any scan finds what they announced.
            logger.error("a second scan could not be requested", metadata: ["error": "\(error)"])
        }
    }

    private enum Result {
        case scanned(isRequestedAgain: Bool)
        case failed(String, retryAfter: Duration? = nil)
    }

    private func markedResult(of request: ScanRequest) async -> Result {
        guard let marks else { return await result(of: request) }
        let subject = "look \(request.repository)"
        if let reason = marks.reason(for: subject) { return .failed(reason) }
        return await marks.during(subject) { await result(of: request) }
    }

    private func result(of request: ScanRequest) async -> Result {
        let bots = await registry.bots(of: request.repository)
        do {
            guard let bot = bots.first else {
                // The bot's file was removed while its repository was waiting for a scan.
                let heads = try await store.heads(of: request.repository)
                let outcome = try await store.apply(
                    RefScan(
                        request: request, heads: heads, defaultBranch: nil, at: clock.now(), cause: .poll, watchers: [])
                )
                scanLater(for: outcome.awaited)
                return .scanned(isRequestedAgain: outcome.isRequestedAgain)
            }
            let listing: Listing
            // This is read after the request was taken: a later event requests its own scan.
            let open = try await store.openPulls(of: request.repository)
            let pulls = Set(open.map(\.place))
            let mirror = try await remotes.mirror(for: bot)
            do throws(SourceControlError) {
                listing = try await mirror.scan(
                    others: pulls.filter { $0.branch == nil }, fetching: mayFetch() ? wanted(by: bots, open) : nil)
            } catch {
                guard error.code == .empty else { throw error }
                return try await recordEmpty(request, error)
            }
            if mirror.hasManyPacks { crowding.yield(mirror) }
            let judged = await judge(open, listing, mirror)
            let watchers = bots.map {
                Watcher(for: $0, isolation: registry.isolation, defaultBranch: listing.defaultBranch)
            }
            let scan = RefScan(
                request: request, heads: listing.heads, others: listing.others, asked: pulls, judged: judged,
                defaultBranch: listing.defaultBranch, at: clock.now(), cause: .poll, watchers: watchers,
                problem: Self.problem(of: listing, bots))
            let outcome = try await store.apply(scan)
            for id in outcome.integrations {
                logger.info("queued", metadata: ["integration": "\(id)"])
            }
            scanLater(for: outcome.awaited)
            await end(outcome.closed)
            return .scanned(isRequestedAgain: outcome.isRequestedAgain)
        } catch {
            let failure = error as? SourceControlError
            access.record(failure?.isOfCredentials == true ? "\(error)" : nil, by: .scan(request.repository))
            return .failed("\(error)", retryAfter: failure?.retryAfter)
        }
    }

    /// Returns the problem that keeps bots from integrating branches of a reachable repository; `nil` if there is none.
    private static func problem(of listing: Listing, _ bots: [BotSpecification]) -> String? {
        let branches = listing.heads.keys.filter { $0.branch != nil }.sorted()
        guard listing.defaultBranch == nil, !branches.isEmpty, bots.contains(where: { $0.branches == nil }) else {
            let unwatched = bots.compactMap { bot in
                bot.whyUnwatched(heads: listing.heads.keys, defaultBranch: listing.defaultBranch).map { (bot.name, $0) }
            }
            guard !unwatched.isEmpty else { return nil }
            return unwatched.prefix(maximumUnwatched).map {
                "the bot \($0) integrates nothing: \($1.text); \($1.remedy)"
            }
            .joined(separator: ". ")
        }
        let names = branches.prefix(5).map(\.shortName).joined(separator: ", ") + (branches.count > 5 ? ", …" : "")
        return
            "the repository has no default branch: its HEAD names none of its \(branches.count) branches (\(names)). Name the branches to "
            + "integrate in the bot file (`branches: [\(branches[0].shortName)]`), or let HEAD name one: in a forge's settings, or by "
            + "`git symbolic-ref HEAD \(branches[0])` in the repository"
    }

    /// The most bots that the problem of a repository names.
    private static let maximumUnwatched = 3

    /// Handles an empty repository. One without any push yet is not a failure; polls and pushes request further scans. No bot counts as having
    /// scanned it. So the first push is treated as what was there before: its branches are integrated, its tags are not.
    /// - Returns: A failure if all earlier refs have vanished at once. A server under repair may report that, and removing the refs here would
    ///   integrate them a second time when it returns.
    private func recordEmpty(_ request: ScanRequest, _ error: SourceControlError) async throws -> Result {
        let count = try await store.heads(of: request.repository).count
        guard count == 0 else {
            return .failed(
                "\(error); it had \(count) branches and tags, which are kept as they were until it lists some again")
        }
        let outcome = try await store.apply(
            RefScan(request: request, heads: [:], defaultBranch: nil, at: clock.now(), cause: .poll, watchers: []))
        scanLater(for: outcome.awaited)
        return .scanned(isRequestedAgain: outcome.isRequestedAgain)
    }
}

extension RepositoryScans {
    /// Returns whether an integration of a listed ref may be queued, so that the scan fetches its commit. That is the case for branches and tags that
    /// a bot watches, and for pull requests that run without approval. The default branch is fetched, too, because jobs compare theirs with it
    /// (`JobHistory`).
    /// - Parameter open: The open pull requests whose heads the scan asks for.
    nonisolated func wanted(
        by bots: [BotSpecification], _ open: [PullRequestRecord]
    ) -> @Sendable (RefName, Listing) -> Bool {
        let isSandboxed = registry.isolation == .sandbox
        return { ref, listing in
            let branch = listing.defaultBranch
            if ref == branch || bots.contains(where: { $0.watches(ref, defaultBranch: branch) }) { return true }
            guard isSandboxed, let head = listing.others[ref] ?? listing.heads[ref] else { return false }
            return open.contains { pull in
                guard pull.place == ref else { return false }
                // The same decision as in the ledger (`ScanApplication`).
                let source =
                    ref.branch != nil ? ref : listing.heads.first { $0.key.branch != nil && $0.value == head }?.key
                let seen = SeenPullRequest(number: pull.number, base: pull.base, head: head, source: source)
                return bots.contains { $0.answer(to: seen, defaultBranch: branch) == .integrates }
            }
        }
    }

    /// Repacks mirrors with many packs, which scans have created, until the task is canceled. A failure does not affect the scans.
    func repackCrowded() async {
        for await mirror in crowded where mirror.hasManyPacks {
            do {
                try await mirror.repack()
            } catch {
                if error.code == .canceled { continue }
                logger.warning(
                    "a mirror could not be repacked", metadata: ["mirror": "\(mirror.path)", "error": "\(error)"])
            }
        }
    }
}

extension Watcher {
    /// Creates a watcher with the rules of a bot, for a scan.
    init(for bot: BotSpecification, isolation: Isolation, defaultBranch: RefName?) {
        let branches = bot.branches?.map(\.description) ?? [defaultBranch?.description ?? "", "release/*"]
        var patterns =
            "branches: \(branches.joined(separator: " ")) tags: \(bot.tags.map(\.description).joined(separator: " "))"
        let isSandboxed = isolation == .sandbox
        // The patterns change when pull requests are no longer refused, so that those refused before are considered again.
        if bot.pullRequests != .trusted || !isSandboxed {
            patterns += " pull-requests: \(isSandboxed ? bot.pullRequests.rawValue : "refused")"
        }
        self.init(
            bot: bot.name, patterns: patterns, watches: { bot.watches($0, defaultBranch: defaultBranch) },
            isRelease: { bot.isRelease($0) }, supersede: { bot.supersede(on: $0) },
            answer: {
                isSandboxed
                    ? bot.answer(to: $0, defaultBranch: defaultBranch) : .refuses(JobIsolation.pullRequestReason)
            })
    }
}
