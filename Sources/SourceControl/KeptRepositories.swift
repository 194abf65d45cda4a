import Synchronization

/// Repositories that one call has opened, for the next call of the same mirror: what an integration begins with is read, and checked
/// out a moment later. Opening one costs more than reading a small commit.
final class KeptRepositories: Sendable {
    /// How long one is kept: what has become of its files meanwhile is seen by who opens it anew.
    static let time = Duration.seconds(1)
    /// At most so many: each can hold open a few files.
    static let limit = 8

    private let now: @Sendable () -> ContinuousClock.Instant
    private let kept = Mutex<[String: (repository: OpenRepository, until: ContinuousClock.Instant)]>([:])

    /// - Parameter now: The time.
    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

    /// The one of a directory, which is kept no longer; nothing when there is none, or it is too old.
    func take(_ path: String) -> OpenRepository? {
        let found = kept.withLock { $0.removeValue(forKey: path) }
        return found.flatMap { $0.until > now() ? $0.repository : nil }
    }

    /// Keeps one that nobody uses any more.
    func keep(_ repository: OpenRepository, of path: String) {
        let now = now()
        kept.withLock { kept in
            kept = kept.filter { $0.value.until > now }
            if kept.count < Self.limit { kept[path] = (repository, now + Self.time) }
        }
    }
}
