import Model
import Synchronization

/// The refs that a mirror's server listed at the last scan, in memory. The following fetch does not need to list them again.
final class RefListCache: Sendable {
    /// The list of a scan that also fetches new commits.
    struct Seen {
        var refs: [RefName: RemoteSession.AdvertisedRef] = [:]
        /// The default branch; `nil` once all wanted commits of the list are fetched.
        var unfetched: RefName?
    }

    private struct State {
        var list: RemoteSession.Advertisement?
        var isWritten = false
        var seen = Seen()
        /// The number of next scans that leave new commits to the integration's fetch.
        var pause = 0
        /// The pause after the next scan that fails to fetch.
        var nextPause = RefListCache.shortestPause
        var packs = 0
    }

    /// The pause after a scan that failed to fetch, as a number of scans that leave new commits to the integration's fetch. Without a pause, a slow
    /// server would be asked for each commit twice.
    static let shortestPause = 10
    /// The pause doubles with each further failure, up to this number. Each scan wants the default branch until it is fetched.
    static let longestPause = 1000

    private let state = Mutex(State())

    var list: RemoteSession.Advertisement? { state.withLock { $0.list } }

    /// The list; `nil` once the mirror's refs are updated to it.
    var unwritten: RemoteSession.Advertisement? { state.withLock { $0.isWritten ? nil : $0.list } }

    /// The number of packs in the mirror after the last scan that fetched one, or after the last repack.
    var packs: Int { state.withLock { $0.packs } }

    /// Records the list of a scan.
    func record(_ list: RemoteSession.Advertisement) {
        state.withLock {
            if $0.list?.refs != list.refs { $0.isWritten = false }
            $0.list = list
        }
    }

    /// Records the list of a scan that also fetches new commits.
    /// - Returns: The list of the previous such scan.
    func exchangeSeen(_ seen: Seen) -> Seen {
        state.withLock { state in
            let before = state.seen
            state.seen = seen
            return before
        }
    }

    /// Records that the mirror has all wanted commits of the last list. Pauses are short again.
    func recordFetched() {
        state.withLock {
            $0.seen.unfetched = nil
            $0.pause = min($0.pause, Self.shortestPause)
            $0.nextPause = Self.shortestPause
        }
    }

    /// Returns whether a scan may fetch new commits. Each refusal shortens the pause by one.
    func mayFetch() -> Bool {
        state.withLock {
            if $0.pause == 0 { return true }
            $0.pause -= 1
            return false
        }
    }

    /// Forgets everything, because the mirror was removed.
    func reset() { state.withLock { $0 = State() } }

    /// Records the number of packs in the mirror.
    func recordPackCount(_ count: Int) { state.withLock { $0.packs = count } }

    /// Records that a scan failed to fetch. The pause begins.
    func recordFailedFetch() {
        state.withLock {
            $0.pause = $0.nextPause
            $0.nextPause = min(2 * $0.nextPause, Self.longestPause)
        }
    }

    /// Records that the mirror's refs are updated to a list, as far as their commits are in the mirror.
    func recordWritten(_ refs: [RefName: RemoteSession.AdvertisedRef]) {
        state.withLock { $0.isWritten = $0.list?.refs == refs }
    }
}
