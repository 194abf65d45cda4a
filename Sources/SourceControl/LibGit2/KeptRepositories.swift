import Synchronization

/// A cache of open mirrors between two calls, with at most one handle for each. Opening one costs more than reading a small commit.
///
/// A handle is used again as long as the files that opening reads have not changed (`MirrorStamp`), so that it sees the changes of other processes.
/// Between two calls it has neither packs open nor objects in memory. An exception is the second after some calls: the commit of a starting
/// integration is read, and checked out a moment later.
final class KeptRepositories: Sendable {
    /// How long objects in memory are used. Later changes to their files are noticed after this time.
    static let time = Duration.seconds(1)
    /// The time after which an unused handle is closed.
    static let unused = Duration.seconds(10)
    /// The most open handles. Above it, the least recently used one is closed.
    static let limit = 64
    /// The most handles with open packs, each with up to `Mirror.maximumPacks`.
    static let filledLimit = 8

    private struct Kept {
        var repository: OpenRepository
        var used: ContinuousClock.Instant
        /// When its packs were opened; `nil` if none are open.
        var filled: ContinuousClock.Instant?
    }

    private let now: @Sendable () -> ContinuousClock.Instant
    private let kept = Mutex<[String: Kept]>([:])

    /// - Parameter now: Returns the time.
    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

    /// The number of handles that are open and not in use.
    var count: Int { kept.withLock { $0.count } }

    /// Opens a mirror, or takes its open handle if the mirror has not changed.
    /// - Parameter isFresh: Whether objects in memory must not be used.
    func acquire(_ store: MirrorStore, isFresh: Bool = false) throws(SourceControlError) -> OpenRepository {
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

    /// Stores a handle that is no longer in use.
    /// - Parameter isFilled: Whether its packs stay open for a short time, for a call that follows immediately.
    func release(_ repository: OpenRepository, of store: MirrorStore, isFilled: Bool = false) {
        let now = now()
        let filledCount = kept.withLock { $0.values.count { $0.filled != nil } }
        if !isFilled || filledCount >= Self.filledLimit {
            guard repository.empty() else { return }
        }
        repository.recordUse(of: store)
        let new = Kept(repository: repository, used: now, filled: repository.filled)
        // The old handle is closed after the lock is released.
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

    /// Closes the handles that were unused for a while, and those that still have packs open.
    func closeUnused() {
        let now = now()
        let closed = kept.withLock { all in
            let old = all.filter { _, kept in
                kept.used + Self.unused <= now || kept.filled.map { $0 + Self.time <= now } ?? false
            }
            for path in old.keys { all[path] = nil }
            return old
        }
        // They are closed here, without the lock.
        withExtendedLifetime(closed) {}
    }
}
