/// A reader of numbers as JUnit reports write them.
enum JUnitNumber {
    /// Returns a duration from seconds such as `0.25` or `1,234.5` (Ant in English locales). Negative ones, and those of a billion or more, give
    /// `nil`.
    static func duration(_ text: String?) -> Duration? {
        guard let text, text.utf8.count <= 40 else { return nil }
        guard let seconds = Double(text.filter { $0 != "," }), seconds >= 0, seconds < 1e9 else { return nil }
        return .seconds(seconds)
    }
}
