import Model
import Synchronization

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
