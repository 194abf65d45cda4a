import Model

/// What was downloaded and is not stored yet, and how much that makes together with what is.
///
/// While a transaction is under way, nobody can tell whether the store that was read has it already. So what was stored before it is
/// known for as long, and who read the store while one began or ended reads it again.
struct DownloadTally: Sendable {
    typealias Key = Downloads.Key

    private var counted: [Key: Int64] = [:]
    /// What the transaction under way adds, and to what.
    private var storing: [Key: (added: Int64, before: Int64)] = [:]
    /// Another with each transaction that begins or ends.
    private(set) var turn = 0

    /// What is not known to be stored.
    var pending: [Key: Int64] { counted.merging(storing.mapValues { $0.added }) { $0 + $1 } }

    mutating func count(_ key: Key) { counted[key, default: 0] += 1 }

    /// Begins a transaction.
    /// - Parameters:
    ///   - products: Whose counts it stores; others wait for the next.
    ///   - stored: What is stored of these products.
    /// - Returns: What it adds; nothing while another is under way, or where there is nothing to add.
    mutating func begin(of products: Set<Name>, stored: [Key: Int64]) -> [Key: Int64]? {
        let taken = counted.filter { products.contains($0.key.product) }
        // One that adds nothing would end with what another has begun meanwhile.
        guard storing.isEmpty, !taken.isEmpty else { return nil }
        for (key, count) in taken {
            counted[key] = nil
            storing[key] = (count, stored[key] ?? 0)
        }
        turn += 1
        return taken
    }

    /// Ends it; what it did not store stays for the next.
    mutating func end(isStored: Bool) {
        if !isStored { for (key, part) in storing { counted[key, default: 0] += part.added } }
        storing = [:]
        turn += 1
    }

    /// All that was ever counted of a product's files.
    /// - Parameters:
    ///   - stored: What was read from the store.
    ///   - turn: When it was about to be read.
    /// - Returns: Nothing where a transaction began or ended since.
    func counts(of product: Name, stored: [Key: Int64], at turn: Int) -> [Key: Int64]? {
        guard turn == self.turn else { return nil }
        var counts = stored
        for (key, part) in storing where key.product == product { counts[key] = part.before + part.added }
        for (key, count) in counted where key.product == product { counts[key, default: 0] += count }
        return counts
    }
}
