import Model

/// Download counts that are not stored yet, and their sum with the stored counts.
///
/// During a transaction a reader of the store cannot know whether the result already includes the transaction. The stored counts from before the
/// transaction are therefore kept until it ends. A reader during whose read a transaction began or ended reads again.
struct DownloadTally: Sendable {
    typealias Key = Downloads.Key

    private var counted: [Key: Int64] = [:]
    /// What the current transaction adds, and the stored count before it.
    private var storing: [Key: (added: Int64, before: Int64)] = [:]
    /// A number that changes whenever a transaction begins or ends.
    private(set) var turn = 0

    /// The counts that are not known to be stored.
    var pending: [Key: Int64] { counted.merging(storing.mapValues { $0.added }) { $0 + $1 } }

    mutating func count(_ key: Key) { counted[key, default: 0] += 1 }

    /// Begins a transaction.
    /// - Parameters:
    ///   - products: The products whose counts the transaction stores. Other counts wait for the next one.
    ///   - stored: The stored counts of these products.
    /// - Returns: The counts to add; `nil` if another transaction is in progress or there is nothing to add.
    mutating func begin(of products: Set<Name>, stored: [Key: Int64]) -> [Key: Int64]? {
        let taken = counted.filter { products.contains($0.key.product) }
        // An empty transaction would otherwise end the one that another call has begun meanwhile.
        guard storing.isEmpty, !taken.isEmpty else { return nil }
        for (key, count) in taken {
            counted[key] = nil
            storing[key] = (count, stored[key] ?? 0)
        }
        turn += 1
        return taken
    }

    /// Ends the transaction. If it failed, its counts wait for the next one.
    mutating func end(isStored: Bool) {
        if !isStored { for (key, part) in storing { counted[key, default: 0] += part.added } }
        storing = [:]
        turn += 1
    }

    /// Returns all downloads ever counted of a product's files.
    /// - Parameters:
    ///   - stored: The counts that were read from the store.
    ///   - turn: The value of `turn` before that read.
    /// - Returns: `nil` if a transaction began or ended since.
    func counts(of product: Name, stored: [Key: Int64], at turn: Int) -> [Key: Int64]? {
        guard turn == self.turn else { return nil }
        var counts = stored
        for (key, part) in storing where key.product == product { counts[key] = part.before + part.added }
        for (key, count) in counted where key.product == product { counts[key, default: 0] += count }
        return counts
    }
}
