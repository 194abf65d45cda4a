/// The rule by which a zone's clocks change in the future: a POSIX TZ string in the last line of a zone file, such as `CET-1CEST,M3.5.0,M10.5.0/3`.
struct ZoneFooter: Hashable {
    /// The offset of standard time from UTC in seconds.
    private var standard = 0
    private var summer: Summer?

    private struct Summer: Hashable {
        var offset: Int
        var begin: Change
        var end: Change
    }

    /// A day and time of each year.
    private struct Change: Hashable {
        enum Day: Hashable {
            /// The day of the year from 1 to 365; 29 February is never counted.
            case julian(Int)
            /// The day of the year from 0 to 365.
            case ordinal(Int)
            /// A weekday; week 5 means the last one of the month.
            case weekday(month: Int, week: Int, day: Int)
        }
        var day: Day
        /// The local time before the change in seconds, from -167 to 167 hours.
        var time: Int

        /// Returns the local time of the change in a year, in seconds since 1970 as if it were UTC.
        func local(in year: Int64) -> Int64 {
            let first = CivilDate(year: year, month: 1, day: 1).daysSinceEpoch
            let days: Int64
            switch day {
            case .julian(let number):
                days = first + Int64(number - 1 + (CivilDate.isLeap(year) && number >= 60 ? 1 : 0))
            case .ordinal(let number): days = first + Int64(number)
            case .weekday(let month, let week, let wanted):
                let start = CivilDate(year: year, month: month, day: 1)
                var number = 1 + (wanted - start.weekday + 7) % 7 + (week - 1) * 7
                if number > CivilDate.daysInMonth(month, of: year) { number -= 7 }
                days = start.daysSinceEpoch + Int64(number - 1)
            }
            return days * 86_400 + Int64(time)
        }
    }

    init?(_ text: String) {
        var reader = ZoneText(text)
        guard reader.name(), let west = reader.time() else { return nil }
        standard = -west
        guard !reader.isAtEnd else { return }
        guard reader.name() else { return nil }
        var offset = standard + 3600
        if !reader.take(",") {
            guard let west = reader.time(), reader.take(",") else { return nil }
            offset = -west
        }
        guard let begin = Self.change(&reader), reader.take(","), let end = Self.change(&reader), reader.isAtEnd else {
            return nil
        }
        summer = Summer(offset: offset, begin: begin, end: end)
    }

    private static func change(_ reader: inout ZoneText) -> Change? {
        let day: Change.Day
        if reader.take("M") {
            guard let month = reader.number(in: 1...12), reader.take("."), let week = reader.number(in: 1...5),
                reader.take("."), let weekday = reader.number(in: 0...6)
            else { return nil }
            day = .weekday(month: month, week: week, day: weekday)
        } else if reader.take("J") {
            guard let number = reader.number(in: 1...365) else { return nil }
            day = .julian(number)
        } else {
            guard let number = reader.number(in: 0...365) else { return nil }
            day = .ordinal(number)
        }
        guard reader.take("/") else { return Change(day: day, time: 7200) }
        return reader.time().map { Change(day: day, time: $0) }
    }

    func offset(at moment: Int64) -> Int {
        guard let summer else { return standard }
        let year = CivilDate(daysSinceEpoch: (moment + Int64(standard)).floored(by: 86_400)).year
        let begin = summer.begin.local(in: year) - Int64(standard)
        let end = summer.end.local(in: year) - Int64(summer.offset)
        let isSummer = begin < end ? begin <= moment && moment < end : moment < end || begin <= moment
        return isSummer ? summer.offset : standard
    }
}

extension Int64 {
    /// Returns the quotient, rounded down.
    func floored(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

/// A parser of POSIX TZ strings.
private struct ZoneText {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = Substring(text).utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let byte = rest.first, byte == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    /// Skips an abbreviation: three or more letters, or any text in angle brackets.
    /// - Returns: `false` if there is none.
    mutating func name() -> Bool {
        if take("<") {
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
            rest = rest[rest.index(after: end)...]
            return true
        }
        let count = rest.prefix { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }.count
        rest = rest.dropFirst(count)
        return count >= 3
    }

    mutating func number(in range: ClosedRange<Int>) -> Int? {
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard (1...3).contains(digits.count), let number = Int(String(decoding: digits, as: UTF8.self)),
            range.contains(number)
        else { return nil }
        rest = rest.dropFirst(digits.count)
        return number
    }

    /// Parses `[+-]hh[:mm[:ss]]`.
    /// - Returns: The time in seconds; `nil` if the text is not a time.
    mutating func time() -> Int? {
        let sign = take("-") ? -1 : 1
        if sign == 1 { _ = take("+") }
        guard let hours = number(in: 0...167) else { return nil }
        var seconds = hours * 3600
        for unit in [60, 1] {
            guard take(":") else { break }
            guard let value = number(in: 0...59) else { return nil }
            seconds += value * unit
        }
        return sign * seconds
    }
}
