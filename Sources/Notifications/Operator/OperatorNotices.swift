package import Basics
package import Logging
package import Model
package import Storage

/// Sends the operator one message when a trouble of the service begins, and one when it is over.
///
/// What was sent is stored, so a restart repeats nothing. While nothing can be stored, as on a full disk, messages are sent all the same, and what
/// was sent is stored afterwards.
package actor OperatorNotices {
    private let store: Store
    private let senders: [ConditionRecord.Channel: any ConditionSender]
    /// Returns the present troubles; `nil` until each part of the service was examined.
    private let troubles: @Sendable () -> [ServiceCondition]?
    private let clock: WallClock
    private let logger: Logger
    private let signal: Signal

    /// The troubles that last or whose messages are not sent yet; `nil` until they were read.
    private var records: [ConditionRecord]?
    /// When each present trouble that has not begun yet was first seen.
    private var firstSeen: [ServiceCondition.Key: Timestamp] = [:]
    /// When each trouble that lasts was last seen.
    private var lastSeen: [ServiceCondition.Key: Timestamp] = [:]
    /// When each failing way of sending is tried again, and after which pause.
    private var pauses: [ConditionRecord.Channel: (until: Timestamp, length: Duration)] = [:]

    /// How long a trouble is absent before it is over. One that comes and goes causes one message, not many.
    package static let settling: Duration = .seconds(60)
    /// The pause after a failed message; it is doubled each time, up to `longestPause`.
    static let firstPause: Duration = .seconds(60)
    static let longestPause: Duration = .seconds(900)

    /// - Parameter senders: The ways of sending. The operator that the settings name can change while the service runs, so each asks for it.
    package init(
        store: Store, senders: [any ConditionSender], clock: WallClock, logger: Logger,
        signal: Signal, troubles: @escaping @Sendable () -> [ServiceCondition]?
    ) {
        self.store = store
        self.senders = Dictionary(senders.map { ($0.channel, $0) }) { first, _ in first }
        self.clock = clock
        self.logger = logger
        self.troubles = troubles
        self.signal = signal
    }

    /// Compares the troubles at each notification of `signal`, until the task is canceled.
    package func run() async {
        for await _ in signal.notifications {
            if Task.isCancelled { return }
            await round()
        }
    }

    /// How long a trouble of this kind lasts before it is reported. Examinations that already wait for an hour have none.
    static func patience(for kind: ServiceCondition.Kind) -> Duration {
        switch kind {
        case .disk, .file, .repository, .delivery, .queue: .zero
        case .database, .launcher, .sandbox: .seconds(60)
        case .scans, .credentials: .seconds(600)
        }
    }

    /// Compares the present troubles with the known ones, and sends what is to be sent.
    package func round() async {
        guard let present = troubles() else { return }
        let now = clock.now()
        if records == nil {
            guard let stored = try? await store.conditions(at: now) else { return }
            records = stored
            for record in stored where record.endedAt == nil { lastSeen[record.condition.key] = now }
        }
        begin(present, at: now)
        end(present, at: now)
        await saveNew(at: now)
        for channel in ConditionRecord.Channel.allCases { await send(by: channel) }
        records?.removeAll { record in
            record.id != nil && record.endedAt != nil
                && ConditionRecord.Channel.allCases.allSatisfy { senders[$0] == nil || record.told[$0]?.end != nil }
        }
    }

    private func begin(_ present: [ServiceCondition], at now: Timestamp) {
        let keys = Set(present.map(\.key))
        firstSeen = firstSeen.filter { keys.contains($0.key) }
        for condition in present {
            let key = condition.key
            lastSeen[key] = now
            guard records?.contains(where: { $0.endedAt == nil && $0.condition.key == key }) != true else { continue }
            let seen = firstSeen[key] ?? now
            firstSeen[key] = seen
            guard now - seen >= Self.patience(for: condition.kind) else { continue }
            firstSeen[key] = nil
            logger.warning(
                "a trouble of the service began",
                metadata: [
                    "kind": "\(condition.kind.rawValue)", "reason": "\(condition.reason)",
                    "remedy": "\(condition.remedy)",
                ])
            records?.append(ConditionRecord(condition, begunAt: seen))
        }
    }

    private func end(_ present: [ServiceCondition], at now: Timestamp) {
        let keys = Set(present.map(\.key))
        for index in (records ?? []).indices {
            guard let record = records?[index], record.endedAt == nil, !keys.contains(record.condition.key),
                let seen = lastSeen[record.condition.key], now - seen >= Self.settling || now < seen
            else { continue }
            lastSeen[record.condition.key] = nil
            records?[index].endedAt = now
            changed.insert(record.condition.key)
            logger.notice(
                "a trouble of the service is over",
                metadata: ["kind": "\(record.condition.kind.rawValue)", "reason": "\(record.condition.reason)"])
        }
    }

    /// The troubles whose rows are behind.
    private var changed: Set<ServiceCondition.Key> = []

    private func saveNew(at now: Timestamp) async {
        for record in records ?? [] where record.id == nil || changed.contains(record.condition.key) {
            await save(record)
        }
    }

    /// Stores a record. If that fails, the next round tries again.
    private func save(_ record: ConditionRecord) async {
        do {
            let id = try await store.save(record, at: clock.now())
            changed.remove(record.condition.key)
            if let index = index(of: record) { records?[index].id = id }
        } catch {
            changed.insert(record.condition.key)
        }
    }

    private func index(of record: ConditionRecord) -> Int? {
        records?.firstIndex { $0.condition.key == record.condition.key && $0.begunAt == record.begunAt }
    }

    private func send(by channel: ConditionRecord.Channel) async {
        guard let sender = senders[channel] else { return }
        if let pause = pauses[channel], clock.now() < pause.until { return }
        let isWanted = await sender.isWanted
        for record in records ?? [] {
            let told = record.told[channel] ?? .init()
            let isOver = record.endedAt != nil
            guard isOver ? told.end == nil : told.begin == nil else { continue }
            // Nobody is told that something is over that nobody hears of.
            guard isWanted else {
                if isOver { await mark(record, channel, isOver: true) }
                continue
            }
            if let failure = await sender.send(record) {
                let length = min((pauses[channel]?.length ?? Self.firstPause / 2) * 2, Self.longestPause)
                pauses[channel] = (clock.now() + length, length)
                logger.warning(
                    "the operator could not be told of a trouble",
                    metadata: ["by": "\(channel.rawValue)", "error": "\(failure)"])
                return
            }
            pauses[channel] = nil
            await mark(record, channel, isOver: isOver)
        }
    }

    /// Records that a message was sent. A trouble whose first message never left is reported once, when it is over.
    private func mark(_ record: ConditionRecord, _ channel: ConditionRecord.Channel, isOver: Bool) async {
        guard let index = index(of: record) else { return }
        let now = clock.now()
        var told = records?[index].told[channel] ?? .init()
        told.begin = told.begin ?? now
        if isOver { told.end = now }
        records?[index].told[channel] = told
        if let record = records?[index] { await save(record) }
    }
}
