import Synchronization

/// The heads of the queue as they were decoded, while they are heads. A head is asked for at each choice of the scheduler, and hundreds can wait.
///
/// The decoded values are right because only the key's columns change while an integration waits. For example, a new toolchain changes its cause
/// (`Store.takeUp(_:queueing:at:recording:)`).
final class QueueHeads: Sendable {
    /// What tells one state of a waiting integration from another.
    struct Key: Hashable {
        var row: Int64
        var run: Int
        /// The row of the newer integration.
        var supersededBy: Int64?
        /// The stored word.
        var cause: String
    }

    private let known = Mutex<[Key: OpenIntegration]>([:])

    /// The integrations of `keys`, in their order. Forgets all others.
    /// - Parameter read: Returns those that are not known, from the snapshot that the keys are of.
    func integrations(_ keys: [Key], read: ([Key]) throws -> [OpenIntegration]) rethrows -> [OpenIntegration] {
        var known = known.withLock { $0 }
        let missing = keys.filter { known[$0] == nil }
        if !missing.isEmpty {
            let rows = Dictionary(missing.map { ($0.row, $0) }) { first, _ in first }
            for integration in try read(missing) {
                if let key = rows[integration.rowID] { known[key] = integration }
            }
        }
        let heads = keys.compactMap { key in known[key].map { (key, $0) } }
        if !missing.isEmpty || known.count > heads.count {
            let current = Dictionary(heads) { first, _ in first }
            self.known.withLock { $0 = current }
        }
        return heads.map(\.1)
    }
}
