/// Counts that a report states. They are not used as results, but a report that counts failures must contain one.
enum StatedCount {
    /// Returns whether an attribute is a positive number of any size.
    static func isPositive(_ text: String?) -> Bool {
        guard let text, let first = text.utf8.first(where: { $0 > 0x30 }) else { return false }
        return (0x31...0x39).contains(first) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
