/// Dates of HTTP headers: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
///
/// The two obsolete forms are not read: they have been unused for twenty years, and an unread date only costs a transfer or a pause of the usual
/// length.
package enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Formats a date.
    /// - Parameter seconds: Seconds since 1970-01-01T00:00:00Z. Earlier times become that moment, and times after the year 9999 become its end.
    package static func text(_ seconds: Int64) -> String {
        let seconds = min(max(0, seconds), 253_402_300_799)
        let day = seconds / 86_400
        let time = seconds % 86_400
        let date = civil(day)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(days[Int(day % 7)]), \(two(date.day)) \(months[Int(date.month - 1)]) \(date.year) "
            + "\(two(time / 3600)):\(two(time / 60 % 60)):\(two(time % 60)) GMT"
    }

    /// Returns the seconds since 1970-01-01T00:00:00Z; `nil` if the text is not a date.
    package static func parse(_ text: String) -> Int64? {
        let parts = text.split { $0 == " " || $0 == ":" || $0 == "," }
        guard text.utf8.count == 29, text.hasSuffix(" GMT"), parts.count == 8, let day = Int64(parts[1]),
            let month = months.firstIndex(of: String(parts[2])), let year = Int64(parts[3]), let hour = Int64(parts[4]),
            let minute = Int64(parts[5]), let second = Int64(parts[6]), (1...31).contains(day),
            (1970...9999).contains(year),
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        return number(year: year, month: Int64(month) + 1, day: day) * 86_400 + hour * 3600 + minute * 60 + second
    }

    /// Returns the date of a day number: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
    private static func civil(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = shifted / 146_097
        let ofEra = shifted % 146_097
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let dayOfYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let index = (5 * dayOfYear + 2) / 153
        let month = index < 10 ? index + 3 : index - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * index + 2) / 5 + 1)
    }

    /// Returns the day number of a date: the same source, `days_from_civil`.
    private static func number(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let yearOfEra = year % 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
