/// A moment in time, in milliseconds since 1970-01-01T00:00:00Z. The database and the log index store it in this form.
package struct Timestamp: Hashable, Sendable, Comparable, Codable, CustomStringConvertible {
    package let millisecondsSinceEpoch: Int64

    package init(millisecondsSinceEpoch: Int64) { self.millisecondsSinceEpoch = millisecondsSinceEpoch }

    /// Creates a moment from seconds of unknown origin, such as a commit's date, which its author chose. A moment outside of the years 0000 to 9999,
    /// the range of RFC 3339, becomes the nearest moment inside.
    package init(secondsSinceEpoch: Int64) {
        millisecondsSinceEpoch = min(max(secondsSinceEpoch, -62_167_219_200), 253_402_300_799) * 1000
    }

    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.millisecondsSinceEpoch < right.millisecondsSinceEpoch
    }

    /// Returns the sum. A sum out of range becomes the last or the first moment.
    package static func + (left: Timestamp, right: Duration) -> Timestamp {
        Timestamp(millisecondsSinceEpoch: .clampedSum(left.millisecondsSinceEpoch, right.milliseconds))
    }

    package static func - (left: Timestamp, right: Timestamp) -> Duration {
        .milliseconds(Int64.clampedDifference(left.millisecondsSinceEpoch, right.millisecondsSinceEpoch))
    }

    /// The moment in UTC with milliseconds (RFC 3339): `2026-03-01T12:00:00.250Z`.
    package var description: String {
        let seconds = Self.floorDivision(millisecondsSinceEpoch, 1000)
        // For the earliest moments, the multiplication wraps and the subtraction wraps back.
        let milliseconds = millisecondsSinceEpoch &- seconds &* 1000
        let days = Self.floorDivision(seconds, 86_400)
        let time = seconds - days * 86_400
        let date = Self.civil(daysSinceEpoch: days)
        func padded(_ number: Int64, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return padded(date.year, 4) + "-" + padded(date.month, 2) + "-" + padded(date.day, 2) + "T"
            + padded(time / 3600, 2) + ":" + padded(time / 60 % 60, 2) + ":" + padded(time % 60, 2) + "."
            + padded(milliseconds, 3) + "Z"
    }

    /// The calendar date in UTC.
    package var date: (year: Int64, month: Int64, day: Int64) {
        Self.civil(daysSinceEpoch: Self.floorDivision(Self.floorDivision(millisecondsSinceEpoch, 1000), 86_400))
    }

    /// Returns the proleptic Gregorian date of a day number: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
    private static func civil(daysSinceEpoch: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = daysSinceEpoch + 719_468
        let era = floorDivision(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthIndex = (5 * dayOfYear + 2) / 153
        let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthIndex + 2) / 5 + 1)
    }

    private static func floorDivision(_ left: Int64, _ right: Int64) -> Int64 {
        let (quotient, remainder) = left.quotientAndRemainder(dividingBy: right)
        return remainder < 0 ? quotient - 1 : quotient
    }

    package init(from decoder: any Decoder) throws {
        millisecondsSinceEpoch = try decoder.singleValueContainer().decode(Int64.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(millisecondsSinceEpoch)
    }
}

extension Duration {
    /// The whole milliseconds, rounded toward zero. Durations beyond 292 million years are clamped.
    package var milliseconds: Int64 {
        let (seconds, hasOverflowed) = components.seconds.multipliedReportingOverflow(by: 1000)
        if hasOverflowed { return components.seconds < 0 ? .min : .max }
        return .clampedSum(seconds, components.attoseconds / 1_000_000_000_000_000)
    }

    /// The seconds with their fraction, as in the JSON interface.
    package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
