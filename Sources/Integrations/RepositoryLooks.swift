import Basics
package import Logging
import Model
import SourceControl
package import Storage

/// Asks repositories what moved: at most one look per repository at a time; what comes meanwhile asks again.
package actor RepositoryLooks {
    private let store: Store
    private let registry: BotRegistry
    private let remotes: Remotes
    private let clock: WallClock
    private let timer: any Clock<Duration>
    private let wakeup: Wakeup
    private let logger: Logger

    private var underWay: Set<String> = []
    /// After a failure: the request that failed, and the pause before the next try. A newer request does not wait.
    private var pauses: [String: (sequence: Int64, backoff: Backoff)] = [:]

    /// The pause after a failed look, doubled each time.
    static let firstPause = Duration.seconds(2)
    static let longestPause = Duration.seconds(300)

    package init(
        store: Store, registry: BotRegistry, remotes: Remotes, clock: WallClock, timer: any Clock<Duration>,
        wakeup: Wakeup, logger: Logger
    ) {
        self.store = store
        self.registry = registry
        self.remotes = remotes
        self.clock = clock
        self.timer = timer
        self.wakeup = wakeup
        self.logger = logger
    }

    /// Looks whenever the bell rings, until it is finished or the task is cancelled.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for await _ in wakeup.rings {
                for request in await requests() {
                    group.addTask { await self.look(request) }
                }
            }
            group.cancelAll()
        }
    }

    private func requests() async -> [LookRequest] {
        do {
            let wanted = try await store.repositoriesToLook()
            let free = wanted.filter { request in
                !underWay.contains(request.repository) && pauses[request.repository]?.sequence != request.sequence
            }
            underWay.formUnion(free.map(\.repository))
            return free
        } catch {
            logger.error("which repositories to look at could not be read", metadata: ["error": "\(error)"])
            return []
        }
    }

    private func look(_ request: LookRequest) async {
        let failure = await result(of: request)
        underWay.remove(request.repository)
        guard let failure else {
            pauses[request.repository] = nil
            wakeup.ring()  // A request that came meanwhile.
            return
        }
        guard !Task.isCancelled else { return }
        logger.warning("a look failed", metadata: ["repository": "\(request.repository)", "error": "\(failure)"])
        // Before anything is awaited: a ring meanwhile must find the pause.
        var backoff = pauses[request.repository]?.backoff ?? Backoff(first: Self.firstPause, limit: Self.longestPause)
        let pause = backoff.next()
        pauses[request.repository] = (request.sequence, backoff)
        do {
            try await store.lookFailed(request, reason: failure, at: clock.now())
        } catch {
            logger.error("a failed look could not be stored", metadata: ["error": "\(error)"])
        }
        wakeup.ring()
        do { try await timer.sleep(for: pause) } catch { return }
        if let current = pauses[request.repository], current.sequence == request.sequence {
            // Zero is no request's sequence, so that the next round takes it, and the backoff is kept.
            pauses[request.repository] = (0, current.backoff)
        }
        wakeup.ring()
    }

    /// - Returns: Why it failed, or nothing.
    private func result(of request: LookRequest) async -> String? {
        let bots = await registry.bots(of: request.repository)
        do {
            guard let bot = bots.first else {
                // The bot's file went away while its repository was to be looked at.
                let heads = try await store.heads(of: request.repository)
                _ = try await store.apply(
                    Look(
                        request: request, heads: heads, defaultBranch: nil, at: clock.now(), cause: .poll, watchers: [])
                )
                return nil
            }
            let listing: Listing
            do {
                listing = try await remotes.mirror(for: bot).look()
            } catch let error as SourceControlError where error.code == .empty {
                return try await noteEmpty(request, error)
            }
            let look = Look(
                request: request, heads: listing.heads, defaultBranch: listing.defaultBranch, at: clock.now(),
                cause: .poll,
                watchers: bots.map { Self.watcher(for: $0, defaultBranch: listing.defaultBranch) })
            let outcome = try await store.apply(look)
            for id in outcome.integrations {
                logger.info("queued", metadata: ["integration": "\(id)"])
            }
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// A repository that nobody has pushed to yet is no failure; polls and pushes ask again. No bot has looked at anything by
    /// this, so that what the first push brings is still what was there before: its branches are integrated, its tags not.
    /// - Returns: Why it is a failure all the same: all that was there has vanished at once. A server that is being repaired
    ///   may say so, and what it takes back here would be integrated a second time when it returns.
    private func noteEmpty(_ request: LookRequest, _ error: SourceControlError) async throws -> String? {
        let count = try await store.heads(of: request.repository).count
        guard count == 0 else {
            return "\(error); it had \(count) branches and tags, which are kept as they were until it lists some again"
        }
        _ = try await store.apply(
            Look(request: request, heads: [:], defaultBranch: nil, at: clock.now(), cause: .poll, watchers: []))
        return nil
    }

    private static func watcher(for bot: BotSpecification, defaultBranch: RefName?) -> Watcher {
        let branches = bot.branches?.map(\.description) ?? [defaultBranch?.description ?? "", "release/*"]
        let patterns =
            "branches: \(branches.joined(separator: " ")) tags: \(bot.tags.map(\.description).joined(separator: " "))"
        return Watcher(
            bot: bot.name, patterns: patterns, watches: { bot.watches($0, defaultBranch: defaultBranch) },
            isRelease: { bot.isRelease($0) }, supersede: { bot.supersede(on: $0) })
    }
}
