/// The five fields of crontab(5): minute, hour, day of the month, month, day of the week; or a word such as `@daily`.
package struct CronExpression: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The text as written, with single blanks.
    package let description: String
    /// The sets of values: bit N is set if N is in the set.
    let minutes: UInt64
    let hours: UInt64
    private let days: UInt64
    private let months: UInt64
    /// The days of the week; Sunday is 0.
    private let weekdays: UInt64
    /// Whether both day fields restrict the days. A day that matches either of them is then included (crontab(5), "Note"). As in Vixie's cron, a
    /// field that begins with `*`, such as `*/2`, does not count as a restriction.
    private let isEitherDay: Bool
    /// Whether both the hour and the minute are stated, so that it means times of day. With `*` in one of them it means an interval.
    let isFixed: Bool

    /// The reason why a text is not a cron expression, as a message.
    package struct Problem: Error, Hashable {
        package let message: String

        package init(message: String) { self.message = message }
    }

    private static let words = [
        "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
        "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
    ]

    /// The words that stand for five fields.
    package static var names: [String] { words.keys.sorted() }

    /// Parses a cron expression.
    /// - Throws: `Problem` with the error and what to write instead, also if no year has such a day.
    package init(_ text: String) throws(Problem) {
        description = text.split(whereSeparator: { $0 == " " || $0 == "\t" }).joined(separator: " ")
        if description == "@reboot" {
            throw Problem(
                message: "`@reboot` is not a time; a bot integrates what it has missed when the daemon starts")
        }
        guard !description.hasPrefix("@") || Self.words[description.lowercased()] != nil else {
            throw Problem(message: "\(description.prefix(32)) is not one of \(Self.names.joined(separator: ", "))")
        }
        let fields = (Self.words[description.lowercased()] ?? description).split(separator: " ")
        guard fields.count == 5 else {
            throw Problem(
                message: "a cron expression has five fields (minute, hour, day of the month, month, day of the week), "
                    + "not \(fields.count)" + (fields.count == 6 ? "; seconds are not among them" : ""))
        }
        minutes = try CronField.minute.read(fields[0])
        hours = try CronField.hour.read(fields[1])
        days = try CronField.day.read(fields[2])
        months = try CronField.month.read(fields[3])
        let weekdays = try CronField.weekday.read(fields[4])
        self.weekdays = weekdays | (weekdays >> 7 & 1)
        isEitherDay = !fields[2].hasPrefix("*") && !fields[4].hasPrefix("*")
        isFixed = !fields[0].hasPrefix("*") && !fields[1].hasPrefix("*")
        guard hasDay else {
            throw Problem(message: "no year has the day of \(description)")
        }
    }

    /// Whether a day is one of the expression's days.
    func isDay(_ date: CivilDate) -> Bool {
        guard months >> date.month & 1 == 1 else { return false }
        let isDay = days >> date.day & 1 == 1
        let isWeekday = weekdays >> date.weekday & 1 == 1
        return isEitherDay ? isDay || isWeekday : isDay && isWeekday
    }

    /// Whether any day matches. The 28 years from 2000 contain every combination of 29 February and weekday.
    private var hasDay: Bool {
        let first = CivilDate(year: 2000, month: 1, day: 1).daysSinceEpoch
        return (first..<first + 28 * 366).contains { isDay(CivilDate(daysSinceEpoch: $0)) }
    }

    package init(from decoder: any Decoder) throws {
        try self.init(try decoder.singleValueContainer().decode(String.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
