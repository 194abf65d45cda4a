import Synchronization

/// Hands every committed change to each stream that listens.
final class ChangeBroadcast: Sendable {
    /// Changes that a slow listener may be behind; older ones are dropped for it, since each change only says "look
    /// again at this".
    static let bufferedChanges = 256

    private struct Listeners {
        var next = 0
        var streams: [Int: AsyncStream<StoreChange>.Continuation] = [:]
        /// How often bots or versions have changed.
        var publishings = 0
    }

    private let listeners = Mutex(Listeners())

    func stream() -> AsyncStream<StoreChange> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: StoreChange.self, bufferingPolicy: .bufferingNewest(Self.bufferedChanges))
        let number = listeners.withLock { listeners in
            listeners.next += 1
            listeners.streams[listeners.next] = continuation
            return listeners.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { $0.streams[number] = nil }
        }
        return stream
    }

    func publish(_ changes: [StoreChange]) {
        if changes.isEmpty { return }
        let streams = listeners.withLock { listeners in
            if changes.contains(where: \.isOfPublishing) { listeners.publishings += 1 }
            return listeners.streams.values.map { $0 }
        }
        for stream in streams {
            for change in changes { stream.yield(change) }
        }
    }

    /// Another number once bots or versions have changed: what was read of them under the same one holds.
    var publishings: Int { listeners.withLock { $0.publishings } }

    /// Ends every stream.
    func finish() {
        let streams = listeners.withLock { $0.streams.values.map { $0 } }
        for stream in streams { stream.finish() }
    }
}
