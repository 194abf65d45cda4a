import Model
import Synchronization

/// What a mirror's server listed at the last scan, in memory: the fetch that follows need not ask for it again.
final class RefListCache: Sendable {
    /// The list of a scan that is to bring what is new.
    struct Seen {
        var refs: [RefName: RemoteSession.AdvertisedRef] = [:]
        /// The default branch, unless all that was wanted of the list was brought.
        var unfetched: RefName?
    }

    private struct State {
        var list: RemoteSession.Advertisement?
        var isWritten = false
        var seen = Seen()
        /// How many of the next scans with something to bring leave it to the fetch.
        var pause = 0
        /// The pause after the next scan that cannot bring what it wants.
        var nextPause = RefListCache.shortestPause
        var packs = 0
    }

    /// The scans with something to bring that leave it to the fetch after one that could not bring it. Without a pause, a server that is slow at it
    /// would be asked for each commit twice.
    static let shortestPause = 10
    /// The pause doubles with each further failure up to this: the default branch is wanted by each scan until it is here, however long that is.
    static let longestPause = 1000

    private let state = Mutex(State())

    var list: RemoteSession.Advertisement? { state.withLock { $0.list } }

    /// The list, when the mirror's refs are not those of it yet.
    var unwritten: RemoteSession.Advertisement? { state.withLock { $0.isWritten ? nil : $0.list } }

    /// The packs of the mirror, as of the last scan that brought one and of the last repack.
    var packs: Int { state.withLock { $0.packs } }

    /// Takes what a scan has found.
    func record(_ list: RemoteSession.Advertisement) {
        state.withLock {
            if $0.list?.refs != list.refs { $0.isWritten = false }
            $0.list = list
        }
    }

    /// Takes the list of a scan that is to bring what is new.
    /// - Returns: That of the one before.
    func exchangeSeen(_ seen: Seen) -> Seen {
        state.withLock { state in
            let before = state.seen
            state.seen = seen
            return before
        }
    }

    /// All that was wanted of the last list is in the mirror, whether a scan or a fetch has brought it: pauses are short again.
    func recordFetched() {
        state.withLock {
            $0.seen.unfetched = nil
            $0.pause = min($0.pause, Self.shortestPause)
            $0.nextPause = Self.shortestPause
        }
    }

    /// Whether a scan with something to bring is to bring it.
    func mayFetch() -> Bool {
        state.withLock {
            if $0.pause == 0 { return true }
            $0.pause -= 1
            return false
        }
    }

    /// Records the number of packs in the mirror.
    func recordPackCount(_ count: Int) { state.withLock { $0.packs = count } }

    /// A scan could not bring what it wanted.
    func recordFailedFetch() {
        state.withLock {
            $0.pause = $0.nextPause
            $0.nextPause = min(2 * $0.nextPause, Self.longestPause)
        }
    }

    /// The mirror's refs are those of a list now, as far as their commits are there.
    func recordWritten(_ refs: [RefName: RemoteSession.AdvertisedRef]) {
        state.withLock { $0.isWritten = $0.list?.refs == refs }
    }
}
