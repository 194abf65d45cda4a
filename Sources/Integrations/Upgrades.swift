package import Logging
import Model
package import Storage

/// Integrates the tips of every bot's branches anew when the machine's toolchain has another version: once each, whenever the daemon
/// is stopped, and not for the version that a bot meets first.
package struct Upgrades: Sendable {
    /// How often the toolchain is asked for its version: a tenth of a second of a process each time.
    static let interval = Duration.seconds(600)
    /// How soon it is asked again where a repository is still to be looked at: what was pushed while the daemon was down goes first.
    static let shortInterval = Duration.seconds(5)
    /// Tips that one transaction queues: each is a few rows, some 200 µs.
    static let batch = 10

    private let store: Store
    private let registry: BotRegistry
    private let clock: WallClock
    private let timer: any Clock<Duration>
    private let version: @Sendable () async -> String?
    private let logger: Logger

    /// - Parameter version: Of the machine's toolchain; nothing where there is none.
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

    /// Asks at once and then from time to time, until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            var interval = Self.interval
            do {
                if try await queueDue() { interval = Self.shortInterval }
            } catch {
                // What could not be stored is due again the next time.
                logger.error("another toolchain could not be taken up", metadata: ["error": "\(error)"])
            }
            do { try await timer.sleep(for: interval) } catch { return }
        }
    }

    /// - Returns: Whether bots wait for a look at their repositories. One that failed is not waited for.
    /// - Throws: What could not be stored, once every bot had its turn.
    @discardableResult
    func queueDue() async throws -> Bool {
        // One that is being installed is not there for a moment.
        guard let version = await version() else { return false }
        let marks = try await store.toolchainMarks()
        let bots = await registry.all()
        let new = bots.map(\.name).filter { marks[$0] == nil }
        if !new.isEmpty { try await store.noteToolchain(version, of: new) }
        var failure: (any Error)?
        var isAnyLeft = false
        for bot in bots {
            guard let mark = marks[bot.name], mark.version != version || mark.next != nil else { continue }
            do {
                if let repository = try await store.repository(bot.repository), repository.isLookRequested,
                    repository.lastError == nil
                {
                    isAnyLeft = true
                    continue
                }
                try await take(bot, from: mark, to: version)
            } catch let error as StoreError where error.code == .notFound {
                // Its file went away meanwhile.
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return isAnyLeft
    }

    private func take(_ bot: BotSpecification, from mark: ToolchainMark, to version: String) async throws {
        let label = "Swift \(mark.version) → \(version)"
        // One that was taken back before all of it was queued changes nothing.
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

    /// The branches that the bot watches, as they were seen last, in order of name. From clean workspaces: not every build system knows
    /// that what another compiler made is old.
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
