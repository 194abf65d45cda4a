import Basics
import Synchronization

/// A cache of results that were computed from files, keyed by place. A result is computed again when one of its files was replaced.
final class FindingCache<Finding: Sendable>: Sendable {
    private struct Known: Sendable {
        let statuses: [FileStatus?]
        let finding: Finding
    }

    private let limit: Int
    private let known = Mutex<[String: Known]>([:])

    /// Creates an empty cache.
    /// - Parameter limit: The most places in the cache. When it is full, it is emptied.
    init(limit: Int) { self.limit = limit }

    /// Returns the cached result, or computes it. Blocks as long as `statuses` and `find`.
    /// - Parameters:
    ///   - place: The key.
    ///   - isAnew: Whether to ignore the cache.
    ///   - statuses: Returns the current status of each file.
    ///   - find: Reads the files and computes the result.
    func finding(
        at place: String, isAnew: Bool = false, statuses: () -> [FileStatus?], find: () -> Finding
    ) -> Finding {
        let before = statuses()
        if !isAnew, let last = known(at: place), last.statuses == before { return last.finding }
        let finding = find()
        // If a file was replaced meanwhile, the result is not cached, and the next caller reads the files again.
        if statuses() == before { keep(Known(statuses: before, finding: finding), at: place) }
        return finding
    }

    private func known(at place: String) -> Known? { known.withLock { $0[place] } }

    private func keep(_ new: Known, at place: String) {
        known.withLock { known in
            if known.count >= limit { known = [:] }
            known[place] = new
        }
    }
}
