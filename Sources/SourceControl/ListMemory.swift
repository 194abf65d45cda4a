import Model
import Synchronization

/// What a mirror's server listed at the last look, in memory: the fetch that follows need not ask for it again.
final class ListMemory: Sendable {
    private struct State {
        var list: RemoteSession.Advertisement?
        var isWritten = false
    }

    private let state = Mutex(State())

    var list: RemoteSession.Advertisement? { state.withLock { $0.list } }

    /// The list, when the mirror's refs are not those of it yet.
    var unwritten: RemoteSession.Advertisement? { state.withLock { $0.isWritten ? nil : $0.list } }

    /// Takes what a look has found.
    func note(_ list: RemoteSession.Advertisement) {
        state.withLock {
            if $0.list?.refs != list.refs { $0.isWritten = false }
            $0.list = list
        }
    }

    /// The mirror's refs are those of a list now, as far as their commits are there.
    func noteWritten(_ refs: [RefName: RemoteSession.AdvertisedRef]) {
        state.withLock { $0.isWritten = $0.list?.refs == refs }
    }
}
