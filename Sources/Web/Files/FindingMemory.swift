import Basics
import Synchronization

/// What was found in files, by place: found again when one of the files is another than before.
final class FindingMemory<Finding: Sendable>: Sendable {
    private struct Known: Sendable {
        let statuses: [FileStatus?]
        let finding: Finding
    }

    private let limit: Int
    private let known = Mutex<[String: Known]>([:])

    /// - Parameter limit: So many places are known at a time; beyond, all are found again.
    init(limit: Int) { self.limit = limit }

    /// Blocks as long as what it calls.
    /// - Parameters:
    ///   - isAnew: Whatever is known.
    ///   - statuses: Of the files, as they are at the moment.
    ///   - find: Reads them.
    func finding(
        at place: String, isAnew: Bool = false, statuses: () -> [FileStatus?], find: () -> Finding
    ) -> Finding {
        let before = statuses()
        if !isAnew, let last = known(at: place), last.statuses == before { return last.finding }
        let finding = find()
        // One that was exchanged meanwhile is read once more by who asks next.
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
