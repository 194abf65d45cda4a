import Model

/// A time as forges write it: RFC 3339 with `Z` or an offset (GitHub, Gitea, Bitbucket Cloud), `2026-03-01 12:00:00 UTC` (GitLab before 15),
/// or milliseconds since 1970 (Bitbucket Data Center). It only orders events of one forge, so leap seconds do not matter.
enum ForgeTime {
    /// Returns the time; `nil` if the value is no valid time. The event then counts as received now.
    static func read(_ value: ForgeJSON) -> Timestamp? {
        if let milliseconds = value.integer {
            return (0...253_402_300_799_999).contains(milliseconds)
                ? Timestamp(millisecondsSinceEpoch: milliseconds) : nil
        }
        return value.text.flatMap { read(Array($0.utf8)) }
    }

    private static func read(_ text: [UInt8]) -> Timestamp? {
        func number(_ range: Range<Int>) -> Int64? {
            guard range.upperBound <= text.count else { return nil }
            return text[range].reduce(Int64?(0)) { sum, byte in
                sum.flatMap { (0x30...0x39).contains(byte) ? $0 * 10 + Int64(byte - 0x30) : nil }
            }
        }
        guard text.count >= 19, let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        var (position, fraction) = (19, Int64(0))
        if position < text.count, text[position] == UInt8(ascii: ".") {
            position += 1
            let start = position
            while position < text.count, (0x30...0x39).contains(text[position]) { position += 1 }
            let digits = text[start..<min(position, start + 3)].map { Int64($0 - 0x30) }
            fraction = (digits + [0, 0, 0]).prefix(3).reduce(0) { $0 * 10 + $1 }
        }
        var offset: Int64 = 0
        if position < text.count, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(text[position]) {
            guard let hours = number(position + 1..<position + 3),
                let minutes = number(position + 4..<position + 6) ?? number(position + 3..<position + 5)
            else { return nil }
            offset = (hours * 60 + minutes) * (text[position] == UInt8(ascii: "-") ? -60 : 60)
        }
        let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
        return Timestamp(millisecondsSinceEpoch: seconds * 1000 + fraction)
    }

    /// Returns the days since 1970-01-01, for years from 0 (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`).
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
