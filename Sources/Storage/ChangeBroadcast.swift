import Model
import Synchronization

/// Hands every committed change to each stream that listens.
final class ChangeBroadcast: Sendable {
    /// Changes that a slow listener may be behind; older ones are dropped for it, since each change only says "look
    /// again at this".
    static let bufferedChanges = 256

    private struct Listener: Sendable {
        var take: @Sendable (StoreChange) -> Void
        var finish: @Sendable () -> Void
    }

    private struct Listeners {
        var next = 0
        var all: [Int: Listener] = [:]
        /// How often bots or versions have changed.
        var publishings = 0
        var stamps = IntegrationStamps()
    }

    private let listeners = Mutex(Listeners())

    /// Every change; of more than `bufferedChanges` the newest.
    func stream() -> AsyncStream<StoreChange> { stream(.bufferingNewest(Self.bufferedChanges)) { $0 } }

    /// What `transform` makes of each change; nothing: it is left out.
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

    func publish(_ changes: [StoreChange]) {
        if changes.isEmpty { return }
        let all = listeners.withLock { listeners in
            if changes.contains(where: \.isOfPublishing) { listeners.publishings += 1 }
            for change in changes { listeners.stamps.note(change) }
            return listeners.all.values.map { $0 }
        }
        for listener in all {
            for change in changes { listener.take(change) }
        }
    }

    /// Another number once bots or versions have changed: what was read of them under the same one holds.
    var publishings: Int { listeners.withLock { $0.publishings } }

    /// See `Store.stamp(of:)`.
    func stamp(of id: IntegrationID) -> UInt64 { listeners.withLock { $0.stamps.stamp(of: id) } }

    /// Ends every stream.
    func finish() {
        let all = listeners.withLock { $0.all.values.map { $0 } }
        for listener in all { listener.finish() }
    }
}
