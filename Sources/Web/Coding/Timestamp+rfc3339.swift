import Model

extension Timestamp {
    /// Reads a date-time of RFC 3339, section 5.6, such as `2026-12-31T12:00:00Z` and `2026-12-31t13:00:00.5+01:00`. Digits beyond milliseconds are
    /// dropped. The calendar is the Gregorian one in all years, as the RFC has it; Foundation reads years before 1582 by the Julian one.
    /// - Returns: `nil` for another text, and for a day that the calendar does not have.
    init?(rfc3339 text: String) {
        let form =
            /([0-9]{4})-([0-9]{2})-([0-9]{2})T([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9]|60)([.][0-9]+)?(Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])/
        guard text.utf8.count <= 64, let match = text.uppercased().wholeMatch(of: form) else { return nil }
        func number(_ text: Substring) -> Int64 { Int64(text) ?? 0 }
        let (year, month, day) = (number(match.1), number(match.2), number(match.3))
        guard (1...12).contains(month), (1...31).contains(day) else { return nil }
        let days = Timestamp(secondsSinceEpoch: Self.days(year, month, day) * 86_400)
        // 30 February would be 2 March.
        guard days.date == (year, month, day) else { return nil }
        let seconds = number(match.4) * 3600 + number(match.5) * 60 + number(match.6)
        let fraction = (match.7?.dropFirst().prefix(3) ?? "") + "000"
        var offset: Int64 = 0
        if match.8 != "Z" {
            offset = number(match.8.dropFirst().prefix(2)) * 3600 + number(match.8.suffix(2)) * 60
            if match.8.hasPrefix("+") { offset = -offset }
        }
        self = days + .seconds(seconds + offset) + .milliseconds(number(fraction.prefix(3)))
    }

    /// Returns the days from 1970-01-01 to a date of the Gregorian calendar. A year begins in March here, so that a leap day is its last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let (year, month) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
        let leapDays = (year + 400) / 4 - (year + 400) / 100 + (year + 400) / 400
        return (year + 400) * 365 + leapDays + (153 * month + 2) / 5 + day - 1 - 719_468 - 146_097
    }
}
