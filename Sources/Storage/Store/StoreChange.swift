package import Model
import Synchronization

/// A kind of committed change, published after the commit. Live events of pages and the scheduler react to it.
package enum StoreChange: Hashable, Sendable {
    /// Bots were registered, changed, retired, paused or resumed, or the whole service was paused or resumed.
    case bots
    /// A scan of a repository was requested or has ended.
    case repository(String)
    /// An event was stored or its outcome was decided.
    case delivery(rowID: Int64)
    /// A new integration was queued.
    case queued(IntegrationID)
    /// An existing integration, one of its attempts or one of its triggers has changed.
    case integration(IntegrationID)
    /// An integration has ended a run; it is published after its `integration`.
    case completed(IntegrationID)
    /// A silence of this bot, which its integrations show, was added or removed.
    case silences(bot: Name)
    /// A version of this product was reserved, published, abandoned or yanked.
    case version(product: Name)
    /// An outgoing message was stored or its state has changed.
    case outbox
    /// A token was revoked, or a session was ended.
    case tokens
}

extension StoreChange {
    /// Whether it may change the published versions, or which product publishes one.
    package var isOfPublishing: Bool {
        switch self {
        case .bots, .version: true
        case .repository, .delivery, .queued, .integration, .completed, .silences, .outbox, .tokens: false
        }
    }

    /// Whether it may reduce the access of a client.
    package var isOfAccess: Bool { self == .tokens || self == .bots }
}

/// The start or the end of a step.
package struct StepChange: Sendable, Hashable {
    package var step: StepRecord
    /// Whether the attempt enters the step with this change.
    package var isEntered: Bool

    package init(_ step: StepRecord, isEntered: Bool = false) {
        self.step = step
        self.isEntered = isEntered
    }
}

/// A registration for changes. It ends with its last reference.
package final class ChangeObservation: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}

/// A broadcast of each committed change to all listening streams.
final class ChangeBroadcast: Sendable {
    /// The number of changes buffered for a slow listener. Older ones are dropped, since each change only means "read this again".
    static let bufferedChanges = 256

    private struct Listener: Sendable {
        var take: @Sendable (StoreChange) -> Void
        var finish: @Sendable () -> Void
    }

    private struct Listeners {
        var next = 0
        var all: [Int: Listener] = [:]
        /// The number of transactions that changed bots or versions.
        var publishings = 0
        var stamps = IntegrationStamps()
    }

    private let listeners = Mutex(Listeners())

    /// Returns a stream of all changes. A slow listener gets only the newest `bufferedChanges`.
    func stream() -> AsyncStream<StoreChange> { stream(.bufferingNewest(Self.bufferedChanges)) { $0 } }

    /// Returns a stream of the results of `transform`. A change for which `transform` returns `nil` is skipped.
    func stream<Element: Sendable>(
        _ buffering: AsyncStream<Element>.Continuation.BufferingPolicy,
        _ transform: @escaping @Sendable (StoreChange) -> Element?
    ) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: buffering)
        let listener = Listener(
            take: { change in if let element = transform(change) { continuation.yield(element) } },
            finish: { continuation.finish() })
        let number = listeners.withLock { listeners in
            listeners.next += 1
            listeners.all[listeners.next] = listener
            return listeners.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { $0.all[number] = nil }
        }
        return stream
    }

    /// Calls a function with each change until the observation is released.
    func observe(_ take: @escaping @Sendable (StoreChange) -> Void) -> ChangeObservation {
        let number = listeners.withLock { listeners in
            listeners.next += 1
            listeners.all[listeners.next] = Listener(take: take, finish: {})
            return listeners.next
        }
        return ChangeObservation { [weak self] in self?.listeners.withLock { $0.all[number] = nil } }
    }

    func publish(_ changes: [StoreChange]) {
        if changes.isEmpty { return }
        let all = listeners.withLock { listeners in
            if changes.contains(where: \.isOfPublishing) { listeners.publishings += 1 }
            for change in changes { listeners.stamps.record(change) }
            return listeners.all.values.map { $0 }
        }
        for listener in all {
            for change in changes { listener.take(change) }
        }
    }

    /// A number that grows whenever bots or versions change. Values read while it was the same are still valid.
    var publishings: Int { listeners.withLock { $0.publishings } }

    /// See `Store.stamp(of:)`.
    func stamp(of id: IntegrationID) -> UInt64 { listeners.withLock { $0.stamps.stamp(of: id) } }

    /// Ends every stream.
    func finish() {
        let all = listeners.withLock { $0.all.values.map { $0 } }
        for listener in all { listener.finish() }
    }
}

/// The order of the integrations' last changes. Values computed from an integration's rows are valid while its stamp is the same.
struct IntegrationStamps {
    /// The most integrations, and the most bots, that are remembered. When there are more, all of them count as changed.
    static let maximum = 4096

    private var last: UInt64 = 0
    /// The stamp of everything that is not remembered.
    private var floor: UInt64 = 0
    private var integrations: [IntegrationID: UInt64] = [:]
    private var silences: [Name: UInt64] = [:]

    /// Records a committed change.
    mutating func record(_ change: StoreChange) {
        last += 1
        switch change {
        case .integration(let id), .queued(let id), .completed(let id): integrations[id] = last
        case .silences(let bot): silences[bot] = last
        case .bots, .repository, .delivery, .version, .outbox, .tokens: break
        }
        if integrations.count > Self.maximum || silences.count > Self.maximum {
            (integrations, silences, floor) = ([:], [:], last)
        }
    }

    /// See `Store.stamp(of:)`.
    func stamp(of id: IntegrationID) -> UInt64 {
        max(integrations[id] ?? floor, silences[id.bot] ?? floor)
    }
}
