package import Logging
import Model
package import Storage

/// Integrates the tips of every bot's branches again if the machine's toolchain has a new version. Each tip is integrated once, even if the daemon is
/// stopped meanwhile. The first version that is found for a bot causes no integration.
package struct Upgrades: Sendable {
    /// How often the toolchain's version is queried. Each time, a process runs for a tenth of a second.
    static let interval = Duration.seconds(600)
    /// The shorter interval while a repository waits for a scan. Pushes from the time when the daemon was stopped are integrated first.
    static let shortInterval = Duration.seconds(5)
    /// The number of tips that one transaction queues. Each is a few rows, which take about 200 µs.
    static let batch = 10

    private let store: Store
    private let registry: BotRegistry
    private let clock: WallClock
    private let timer: any Clock<Duration>
    private let version: @Sendable () async -> String?
    private let logger: Logger

    /// - Parameter version: Returns the version of the machine's toolchain; `nil` if there is none.
    package init(
        store: Store, registry: BotRegistry, clock: WallClock, timer: any Clock<Duration>, logger: Logger,
        version: @escaping @Sendable () async -> String?
    ) {
        self.store = store
        self.registry = registry
        self.clock = clock
        self.timer = timer
        self.logger = logger
        self.version = version
    }

    /// Queries the version at once and then periodically, until the task is canceled.
    package func run() async {
        while !Task.isCancelled {
            var interval = Self.interval
            do {
                if try await queueDue() { interval = Self.shortInterval }
            } catch {
                // What could not be stored is due again the next time.
                logger.error("another toolchain could not be adopted", metadata: ["error": "\(error)"])
            }
            do { try await timer.sleep(for: interval) } catch { return }
        }
    }

    /// Queues the tips of all bots for which the version is new.
    /// - Returns: Whether bots wait for a scan of their repositories. A failed scan is not waited for.
    /// - Throws: The last error of a bot, after all bots were tried.
    @discardableResult
    func queueDue() async throws -> Bool {
        // A toolchain that is being installed may be missing for a moment.
        guard let version = await version() else { return false }
        let marks = try await store.toolchainMarks()
        let bots = await registry.all()
        let new = bots.map(\.name).filter { marks[$0] == nil }
        if !new.isEmpty { try await store.recordToolchain(version, of: new) }
        var failure: (any Error)?
        var isAnyLeft = false
        for bot in bots {
            guard let mark = marks[bot.name], mark.version != version || mark.next != nil else { continue }
            do {
                if let repository = try await store.repository(bot.repository), repository.isScanRequested,
                    repository.lastError == nil
                {
                    isAnyLeft = true
                    continue
                }
                try await take(bot, from: mark, to: version)
            } catch let error as StoreError where error.code == .notFound {
                // The bot's file was removed meanwhile.
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return isAnyLeft
    }

    private func take(_ bot: BotSpecification, from mark: ToolchainMark, to version: String) async throws {
        let label = "Swift \(mark.version) → \(version)"
        // If the old version came back before all tips were queued, no further tips are queued.
        var tips = mark.version == version || !bot.isIntegratedOnUpgrade ? [] : try await tips(of: bot, label)
        if mark.next == version, let reached = mark.reached { tips.removeAll { $0.ref <= reached } }
        var count = 0
        repeat {
            let batch = Array(tips.prefix(Self.batch))
            tips.removeFirst(batch.count)
            let next =
                tips.isEmpty
                ? ToolchainMark(bot: bot.name, version: version)
                : ToolchainMark(bot: bot.name, version: mark.version, next: version, reached: batch.last?.ref)
            let now = clock.now()
            count += try await store.takeUp(next, queueing: batch, at: now) {
                .caused($0, by: .upgrade, named: "another toolchain, \(label)", at: now)
            }.count
        } while !tips.isEmpty
        guard count > 0 else { return }
        logger.notice(
            "another toolchain", metadata: ["bot": "\(bot.name)", "label": "\(label)", "integrations": "\(count)"])
    }

    /// Returns the tips of the branches that the bot watches, as the last scan found them, in order of name. They are integrated in clean workspaces,
    /// because not every build system rebuilds the products of another compiler.
    private func tips(of bot: BotSpecification, _ label: String) async throws -> [NewIntegration] {
        let defaultBranch = try await store.repository(bot.repository)?.defaultBranch
        return try await store.heads(of: bot.repository)
            .filter { $0.key.branch != nil && bot.watches($0.key, defaultBranch: defaultBranch) }
            .sorted { $0.key < $1.key }
            .map { ref, commit in
                NewIntegration(
                    bot: bot.name, ref: ref, commit: commit, cause: .upgrade, requestedBy: label,
                    isRelease: bot.isRelease(ref), isClean: true)
            }
    }
}
