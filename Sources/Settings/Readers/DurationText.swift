/// A reader and writer of durations as users write them: a whole number and a unit, `60s`, `10m`, `2h`, `1d`.
enum DurationText {
    private static let units: [(letter: Character, seconds: Int64)] = [
        ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1),
    ]

    /// Reads a duration of at most nine digits, so that the number of seconds cannot overflow. Returns `nil` for other text.
    static func parse(_ text: String) -> Duration? {
        guard let last = text.last, let unit = units.first(where: { $0.letter == last }) else { return nil }
        let digits = text.dropLast()
        guard (1...9).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(digits)
        else { return nil }
        return .seconds(number * unit.seconds)
    }

    /// Returns the duration in the largest unit that leaves a whole number. A fraction of a second is dropped, since it cannot be written.
    static func print(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        for unit in units where seconds != 0 && seconds % unit.seconds == 0 {
            return "\(seconds / unit.seconds)\(unit.letter)"
        }
        return "\(seconds)s"
    }
}
