/// A day of the proleptic Gregorian calendar, counted from 1970-01-01.
struct CivilDate: Hashable {
    let daysSinceEpoch: Int64
    let year: Int64
    /// From 1 to 12.
    let month: Int
    /// From 1 to 31.
    let day: Int

    /// Creates the date of a day number: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms",
    /// `civil_from_days`.
    init(daysSinceEpoch: Int64) {
        self.daysSinceEpoch = daysSinceEpoch
        let date = Timestamp(secondsSinceEpoch: daysSinceEpoch * 86_400).date
        (year, month, day) = (date.year, Int(date.month), Int(date.day))
    }

    /// Creates a day from its date: the same source, `days_from_civil`.
    init(year: Int64, month: Int, day: Int) {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = Int64((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1)
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        daysSinceEpoch = era * 146_097 + dayOfEra - 719_468
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// The day of the week. Sunday is 0, as in cron(5). 1970-01-01 was a Thursday.
    var weekday: Int { Int(((daysSinceEpoch + 4) % 7 + 7) % 7) }
}

extension Int64 {
    /// Returns the quotient, rounded down.
    func floored(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
