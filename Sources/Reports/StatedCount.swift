/// Counts that a report states of itself. They are not believed, but a report that counts failures and shows none is none.
enum StatedCount {
    /// Whether an attribute is a number above nothing, however large.
    static func isPositive(_ text: String?) -> Bool {
        guard let text, let first = text.utf8.first(where: { $0 > 0x30 }) else { return false }
        return (0x31...0x39).contains(first) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
