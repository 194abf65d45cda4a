package import Basics
import Glibc
import JobProtocol
package import Jobs
package import Model
package import Notifications
import Releases
package import Settings
package import Storage
import Synchronization

/// Examines whether the service can do its work, and which troubles an operator can end.
///
/// Every part is examined regularly, and the results are kept in memory, so that `/ready` costs little and depends on no disk.
package final class ServiceHealth: Sendable {
    /// Examines the launcher and the sandbox of jobs.
    package typealias Probe = @Sendable () async -> [ServiceCondition]

    private struct State {
        /// The troubles by the examination that found them.
        var found: [Examination: [ServiceCondition]] = [:]
        /// When each examination ended last.
        var ended: [Examination: Timestamp] = [:]
        /// When the set of running integrations changed last, with that set.
        var movement: (at: Timestamp, running: Set<IntegrationID>)?
        /// When a repository without any successful scan was first found failing.
        var failingSince: [String: Timestamp] = [:]
        /// Returns the damaged published files.
        var damage: (@Sendable () -> [ServiceCondition])?
    }

    /// A part that is examined by itself.
    package enum Examination: String, Sendable, CaseIterable {
        case disk, database, scans, deliveries, queue, secrets
        /// The launcher and the sandbox.
        case jobs

        /// The time from one examination to the next.
        var interval: Duration {
            switch self {
            case .disk, .database: .seconds(10)
            case .scans, .deliveries, .queue, .secrets, .jobs: .seconds(60)
            }
        }
    }

    private let store: Store
    private let registry: BotRegistry
    private let disk: DiskGuard
    private let places: [String]
    /// The settings with which the service runs.
    package let settings: RunningSettings
    private let secrets: SecretStore
    private let probe: Probe
    private let access: RefusedAccess
    private let clock: WallClock
    private let state = Mutex(State())
    private let signal = Signal()
    /// Is notified after each examination.
    private let examined: Signal?

    /// How long scans and deliveries fail, and the queue stands still, before an operator hears of it.
    package static let patience: Duration = .seconds(3600)
    /// How long the queue may stand still while all slots are busy.
    static let patienceWithBusySlots: Duration = .seconds(6 * 3600)
    /// The room below which a disk is low: 5 GiB, on a small disk a tenth of it.
    static let lowBytes: Int64 = 5 << 30

    /// - Parameters:
    ///   - places: The directories whose disks need room.
    ///   - secrets: All secrets, also the service's own.
    ///   - access: The servers that refused the service's credentials.
    package init(
        store: Store, registry: BotRegistry, disk: DiskGuard, places: [String], settings: ServiceSettings,
        secrets: SecretStore,
        probe: @escaping Probe = { [] }, access: RefusedAccess = RefusedAccess(), clock: WallClock,
        examined: Signal? = nil
    ) {
        self.access = access
        self.examined = examined
        self.store = store
        self.registry = registry
        self.disk = disk
        self.places = places
        self.settings = RunningSettings(settings)
        self.secrets = secrets
        self.probe = probe
        self.clock = clock
    }

    /// Examines what is due, until the task is canceled.
    package func run() async {
        for await _ in signal.notifications {
            if Task.isCancelled { return }
            await examine()
            examined?.notify()
        }
    }

    /// Requests an examination if one is due. It is called each second and returns immediately.
    package func tick() {
        let now = clock.now()
        if Examination.allCases.contains(where: { isDue($0, at: now) }) { signal.notify() }
    }

    private func isDue(_ examination: Examination, at now: Timestamp) -> Bool {
        guard let last = state.withLock({ $0.ended[examination] }) else { return true }
        // A clock that was set back makes everything due.
        return now - last >= examination.interval || now < last
    }

    /// Makes the examinations that are due.
    /// - Parameter isForced: Whether all are made.
    package func examine(isForced: Bool = false) async {
        for examination in Examination.allCases where isForced || isDue(examination, at: clock.now()) {
            let found: [ServiceCondition]?
            switch examination {
            case .disk: found = await lowDisks()
            case .database: found = await database()
            case .scans: found = await scans()
            case .deliveries: found = await deliveries()
            case .queue: found = await queue()
            case .secrets: found = await missingSecrets() + refusedUploads()
            case .jobs: found = await probe()
            }
            report(found, by: examination)
        }
    }

    /// Sets how damaged published files are found, which `Web` knows.
    package func watchFiles(_ damage: @escaping @Sendable () -> [ServiceCondition]) {
        state.withLock { $0.damage = damage }
    }

    /// Replaces the troubles that an examination has found.
    /// - Parameter found: The troubles; `nil` if it could not be made. Then its earlier results stay.
    private func report(_ found: [ServiceCondition]?, by examination: Examination) {
        let now = clock.now()
        state.withLock { state in
            if let found { state.found[examination] = found }
            state.ended[examination] = now
        }
    }

    /// The present troubles, in the order of their keys, each key once. The disk's is the one of this moment.
    package var troubles: [ServiceCondition] {
        let (found, damage) = state.withLock { ($0.found.values.flatMap(\.self), $0.damage) }
        var all = found + (damage?() ?? [])
        if let shortage = disk.shortage {
            all.removeAll { $0.kind == .disk }
            all.append(Self.full(shortage))
        }
        if let error = store.writeTrouble {
            all.removeAll { $0.kind == .database }
            all.append(Self.unwritable(error))
            // A disk that is too full for the database has room again only once something was written.
            if error.code == .full { all.append(Self.full("\(error)")) }
        }
        var seen: Set<ServiceCondition.Key> = []
        return all.sorted { $0.key < $1.key }.filter { seen.insert($0.key).inserted }
    }

    /// Whether every part was examined since the start.
    package var isExamined: Bool {
        state.withLock { state in Examination.allCases.allSatisfy { state.ended[$0] != nil } }
    }

    // MARK: Disk and database

    static func full(_ shortage: String) -> ServiceCondition {
        ServiceCondition(
            .disk, reason: shortage,
            remedy:
                "free space there: `martlet prune` removes old integrations, `du -xh --max-depth 2` shows the rest. Waiting jobs go on by themselves.",
            stopsWork: true)
    }

    static func unwritable(_ error: StoreError) -> ServiceCondition {
        ServiceCondition(
            .database, reason: "\(error)",
            remedy:
                "check room, mount options, owner and health of the state directory's disk (`df`, `mount`, `dmesg`). Martlet goes on by itself.",
            stopsWork: true)
    }

    /// - Parameter errno: Why the directory could not be examined.
    private static func vanished(_ place: String, errno: Int32) -> ServiceCondition {
        ServiceCondition(
            .disk, reason: "\(place) cannot be examined: \(String(cString: strerror(errno)))",
            remedy: "mount its disk again, or bring the directory back, then `systemctl restart martlet`",
            stopsWork: true)
    }

    private func lowDisks() async -> [ServiceCondition]? {
        await SerialQueue(label: "health.disk").run { [places] in
            let low = places.compactMap { place -> ServiceCondition? in
                guard let room = DiskSpace(at: place) else { return Self.vanished(place, errno: errno) }
                guard room.free < min(Self.lowBytes, room.size / 10) else { return nil }
                return ServiceCondition(
                    .disk, reason: "the disk of \(place) has \(ByteCount(room.free)) left of \(ByteCount(room.size))",
                    remedy:
                        "free space there, or keep fewer integrations (`retention` in the settings); `martlet prune` removes old ones now"
                )
            }
            return [low.first(where: \.stopsWork) ?? low.first].compactMap(\.self)
        }
    }

    private func database() async -> [ServiceCondition]? {
        // Other writes show that all is well. Only a trouble is probed.
        if store.writeTrouble != nil { try? await store.probeWriting(at: clock.now()) }
        do {
            _ = try await store.hasTokens()
            return []
        } catch {
            return [Self.unwritable(error)]
        }
    }

    private func missingSecrets() async -> [ServiceCondition] {
        let uses = SecretUse.all(of: settings.current, await registry.all())
        let now = clock.now()
        return await SerialQueue(label: "health.secrets").run { [secrets] in
            // Where the service may write there; the values are not accepted any more in any case.
            secrets.removeEndedValues(at: now)
            return MissingSecret.find(uses, in: secrets).prefix(Store.maximumTroubles).map { missing in
                let users = missing.use.users.prefix(5).joined(separator: ", ")
                return ServiceCondition(
                    .credentials, subject: missing.use.name,
                    reason: "the secret \(missing.use.name) cannot be read, which is for \(users)",
                    remedy: missing.sentence)
            }
        }
    }

    // MARK: Scans, deliveries, queue

    private func scans() async -> [ServiceCondition]? {
        // The database's own examination reports that it cannot be read.
        guard let (failing, count) = try? await store.failingRepositories() else { return nil }
        let now = clock.now()
        let since = state.withLock { state in
            let urls = Set(failing.map(\.url))
            state.failingSince = state.failingSince.filter { urls.contains($0.key) }
            for url in urls where state.failingSince[url] == nil { state.failingSince[url] = now }
            return state.failingSince
        }
        let refused = failing.prefix(Store.maximumTroubles).filter { access.reason(of: .scan($0.url)) != nil }
        let long = failing.filter { repository in
            access.reason(of: .scan(repository.url)) == nil
                && now - (repository.lastScan ?? since[repository.url] ?? now) >= Self.patience
        }
        var found = long.prefix(Store.maximumTroubles).map { repository in
            ServiceCondition(
                .repository, subject: repository.url,
                reason: "scans of \(repository.url) fail, \(repository.failures) in a row: \(repository.reason)",
                remedy:
                    "`martlet doctor` asks the repository itself; correct its address, its credentials or the network")
        }
        found += refused.map { repository in
            ServiceCondition(
                .credentials, subject: repository.url,
                reason: "\(repository.url) cannot be scanned: \(repository.reason)",
                remedy: Self.accessRemedy)
        }
        if count > 0, failing.count == count, failing.allSatisfy({ $0.failures >= 3 }), let first = failing.first {
            found.append(
                ServiceCondition(
                    .scans,
                    reason:
                        "no scan of \(count == 1 ? "the one repository" : "\(count) repositories") succeeds; of \(first.url): \(first.reason)",
                    remedy: "check the machine's network and name server, and the repository's address and credentials",
                    stopsWork: true))
        }
        return found
    }

    private func deliveries() async -> [ServiceCondition]? {
        let now = clock.now()
        guard let failing = try? await store.failingDestinations(since: now) else { return nil }
        return failing.compactMap { destination -> ServiceCondition? in
            let bots = destination.bots.prefix(5).map(\.description).joined(separator: ", ")
            let subject = "\(destination.kind.rawValue) \(destination.name)"
            if let reason = access.reason(of: .messages(subject)) {
                return ServiceCondition(
                    .credentials, subject: subject,
                    reason: "messages to \(destination.name) fail, of \(bots): \(reason)",
                    remedy: Self.accessRemedy)
            }
            guard destination.isGivenUp || now - destination.since >= Self.patience else { return nil }
            return ServiceCondition(
                .delivery, subject: subject,
                reason: "messages to \(destination.name) (\(destination.kind.rawValue)) fail, of \(bots)"
                    + (destination.isGivenUp ? "; some were given up" : "")
                    + (destination.reason.map { ": \($0)" } ?? ""),
                remedy:
                    "`martlet outbox` lists the messages and what came of them; `martlet outbox --retry NUMBER` sends one again"
            )
        }
    }

    /// Uploads that the bots' triggers make, and whose server refused the credentials last.
    private func refusedUploads() async -> [ServiceCondition] {
        var found: [ServiceCondition] = []
        for bot in await registry.all() {
            for trigger in bot.triggers {
                guard case .upload(let url, _) = trigger.action,
                    let reason = access.reason(of: .upload(Uploads.place(of: url)))
                else { continue }
                found.append(
                    ServiceCondition(
                        .credentials, subject: Uploads.place(of: url),
                        reason: "the trigger \(trigger.name) of the bot \(bot.name) cannot upload: \(reason)",
                        remedy: Self.accessRemedy
                            + "; then `martlet rerun INTEGRATION --triggers` uploads what is missing"))
            }
        }
        return Array(found.prefix(Store.maximumTroubles))
    }

    private static let accessRemedy =
        "`martlet doctor` asks the server itself; store the valid secret with `martlet secret set`, or correct the server's certificate or "
        + "the `certificates` of the settings"

    private func queue() async -> [ServiceCondition]? {
        // What a pause holds back does not wait for anything that an operator has to mend.
        guard let waiting = try? await store.startableCount(), let running = try? await store.running() else {
            return nil
        }
        let (now, ids) = (clock.now(), Set(running.map(\.id)))
        let since = state.withLock { state in
            if waiting == 0 || state.movement?.running != ids { state.movement = (now, ids) }
            return state.movement?.at ?? now
        }
        let patience = ids.count < settings.current.concurrency ? Self.patience : Self.patienceWithBusySlots
        guard waiting > 0, now - since >= patience else { return [] }
        return [
            ServiceCondition(
                .queue,
                reason: "\(waiting.counting("integration")) wait, and none has started or ended since \(since)",
                remedy: "`martlet queue` says why each waits; `journalctl -u martlet` has the errors")
        ]
    }
}
