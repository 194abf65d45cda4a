import Synchronization

/// What a mirror's server listed at the last look, in memory: the fetch that follows need not ask for it again.
final class ListMemory: Sendable {
    private let kept = Mutex<RemoteSession.Advertisement?>(nil)

    var list: RemoteSession.Advertisement? {
        get { kept.withLock { $0 } }
        set { kept.withLock { $0 = newValue } }
    }
}
