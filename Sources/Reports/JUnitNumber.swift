/// Numbers as JUnit reports write them.
enum JUnitNumber {
    /// Seconds: `0.25`, `1,234.5` (Ant in English locales). Negative ones, and more than a billion, are no duration.
    static func duration(_ text: String?) -> Duration? {
        guard let text, text.utf8.count <= 40 else { return nil }
        guard let seconds = Double(text.filter { $0 != "," }), seconds >= 0, seconds < 1e9 else { return nil }
        return .seconds(seconds)
    }
}
