import Synchronization

/// The mirrors that are open between two calls, at most one handle each: opening one costs more than reading a small commit.
///
/// A handle is used on while the files that opening reads are as they were (`MirrorStamp`), so that it sees what another process has
/// written. Between two calls it has neither packs open nor objects in memory, but for a second after some calls: what an integration begins
/// with is read, and checked out a moment later.
final class KeptRepositories: Sendable {
    /// For so long objects that were read are believed: what has become of their files meanwhile is seen after it.
    static let time = Duration.seconds(1)
    /// A handle that nobody has used for so long is closed.
    static let unused = Duration.seconds(10)
    /// At most so many; the one that was used longest ago makes room.
    static let limit = 64
    /// At most so many with packs open, each of up to `Mirror.maximumPacks`.
    static let filledLimit = 8

    private struct Kept {
        var repository: OpenRepository
        var used: ContinuousClock.Instant
        /// Since when packs are open; `nil`: none are.
        var filled: ContinuousClock.Instant?
    }

    private let now: @Sendable () -> ContinuousClock.Instant
    private let kept = Mutex<[String: Kept]>([:])

    /// - Parameter now: The time.
    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

    /// How many handles are open and not in use.
    var count: Int { kept.withLock { $0.count } }

    /// Opens a mirror, or takes its handle if that sees the mirror as it is.
    /// - Parameter isFresh: Whether no object is believed to be as it was a moment ago.
    func take(_ store: MirrorStore, isFresh: Bool = false) throws(SourceControlError) -> OpenRepository {
        let found = kept.withLock { $0.removeValue(forKey: store.path) }?.repository
        if let found, found.isCurrent(store) {
            if let filled = found.filled, !isFresh, filled + Self.time > now() { return found }
            if found.filled == nil || found.empty() {
                found.filled = now()
                return found
            }
        }
        let stamp = MirrorStamp(of: store)
        let opened = OpenRepository(try store.open(), stamp: stamp)
        opened.filled = now()
        return opened
    }

    /// Keeps a handle that nobody uses any more.
    /// - Parameter isFilled: Whether its packs stay open for the next call, if that comes at once.
    func keep(_ repository: OpenRepository, of store: MirrorStore, isFilled: Bool = false) {
        let now = now()
        let filledCount = kept.withLock { $0.values.count { $0.filled != nil } }
        if !isFilled || filledCount >= Self.filledLimit {
            guard repository.empty() else { return }
        }
        repository.noteUse(of: store)
        let new = Kept(repository: repository, used: now, filled: repository.filled)
        // Closed after the lock is free.
        _ = kept.withLock { all in
            all[store.path] = new
            guard all.count > Self.limit, let last = all.min(by: { $0.value.used < $1.value.used }) else {
                return Kept?.none
            }
            return all.removeValue(forKey: last.key)
        }
    }

    /// Closes a mirror's handle.
    func drop(_ store: MirrorStore) { _ = kept.withLock { $0.removeValue(forKey: store.path) } }

    /// Closes the handles that were not used for a while, or hold packs open without need.
    func closeUnused() {
        let now = now()
        let closed = kept.withLock { all in
            let old = all.filter { _, kept in
                kept.used + Self.unused <= now || kept.filled.map { $0 + Self.time <= now } ?? false
            }
            for path in old.keys { all[path] = nil }
            return old
        }
        // Here, without the lock.
        withExtendedLifetime(closed) {}
    }
}
