extension BotSpecification {
    /// When a bot integrates its branches without an event, and which branches.
    package struct Schedule: Hashable, Sendable, Codable {
        /// The schedule as written: `daily 02:00`, `30 2 * * 1-5`.
        package var text: String
        package var times: CronExpression
        /// A name of the time zone database; `nil` means UTC.
        package var zone: String?
        /// The branches to integrate; `nil` means the default branch.
        package var branches: [RefPattern]?

        package init(text: String, times: CronExpression, zone: String? = nil, branches: [RefPattern]? = nil) {
            (self.text, self.times, self.zone, self.branches) = (text, times, zone, branches)
        }

        /// The form that was stored before cron expressions were supported.
        private enum Earlier: Codable {
            case daily(hour: Int, minute: Int)
            /// A weekly schedule; weekday 1 is Monday.
            case weekly(weekday: Int, hour: Int, minute: Int)
        }

        private enum CodingKeys: String, CodingKey { case text, times, zone, branches }

        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            if let times = try container.decodeIfPresent(CronExpression.self, forKey: .times) {
                self.init(
                    text: try container.decode(String.self, forKey: .text), times: times,
                    zone: try container.decodeIfPresent(String.self, forKey: .zone),
                    branches: try container.decodeIfPresent([RefPattern].self, forKey: .branches))
                return
            }
            let made: Schedule? =
                switch try Earlier(from: decoder) {
                case .daily(let hour, let minute): .daily(hour: hour, minute: minute)
                case .weekly(let weekday, let hour, let minute): .weekly(weekday: weekday, hour: hour, minute: minute)
                }
            guard let made else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "a schedule out of range"))
            }
            self = made
        }

        private static let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

        /// Creates a daily schedule.
        /// - Returns: `nil` if no day has such a time.
        package static func daily(hour: Int, minute: Int, zone: String? = nil) -> Schedule? {
            guard let times = try? CronExpression("\(minute) \(hour) * * *") else { return nil }
            return Schedule(text: "daily \(clock(hour, minute))", times: times, zone: zone)
        }

        /// Creates a weekly schedule.
        /// - Parameter weekday: 1 is Monday.
        /// - Returns: `nil` if there is no such weekday or time.
        package static func weekly(weekday: Int, hour: Int, minute: Int, zone: String? = nil) -> Schedule? {
            guard (1...7).contains(weekday), let times = try? CronExpression("\(minute) \(hour) * * \(weekday)") else {
                return nil
            }
            return Schedule(text: "weekly \(days[weekday - 1]) \(clock(hour, minute))", times: times, zone: zone)
        }

        /// Returns the number of a weekday by its name or the first three letters of it; Monday is 1. `nil` for other
        /// texts.
        package static func weekday(_ name: String) -> Int? {
            name.count < 3 ? nil : days.firstIndex { $0 == name || $0.prefix(3) == name }.map { $0 + 1 }
        }

        private static func clock(_ hour: Int, _ minute: Int) -> String {
            [hour, minute].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
        }

        /// The times, zone and branches as text for display.
        package var sentence: String {
            let branches = branches.map { " of " + $0.map(\.description).joined(separator: ", ") } ?? ""
            return "\(text) \(zone ?? "UTC")\(branches)"
        }

        /// Whether the schedule integrates a branch.
        package func covers(_ ref: RefName, defaultBranch: RefName?) -> Bool {
            guard let branches else { return ref == defaultBranch }
            return ref.branch.map { branch in branches.contains { $0.matches(branch) } } ?? false
        }
    }
}

extension BotSpecification.Schedule {
    /// Returns the schedule's first moment after another, to the minute.
    ///
    /// A time of day that the zone's clocks skip becomes the first moment after the gap. A time that they show twice becomes the first of both. With
    /// `*` for the minute or the hour the schedule is an interval: every moment counts at which the clocks show a matching time.
    /// - Returns: `nil` if there is none within 41 years.
    package func next(after moment: Timestamp, in zone: ZoneRules) -> Timestamp? {
        let seconds = moment.millisecondsSinceEpoch.floored(by: 1000)
        let found = times.isFixed ? fixed(after: seconds, zone) : paced(after: seconds, zone)
        return found.map { Timestamp(secondsSinceEpoch: $0) }
    }

    /// The number of years that are searched. 29 February on a given weekday repeats after 28 years, or after 40 if a century has no leap day.
    private static let years: Int64 = 41

    /// Searches times of day in their order. No moment is before that of the previous time.
    private func fixed(after moment: Int64, _ zone: ZoneRules) -> Int64? {
        // The search starts a day earlier, because clocks have skipped a whole day, and an offset is less than a day.
        let first = (moment + Int64(zone.offset(at: moment))).floored(by: 86_400) - 1
        for day in first...first + Self.years * 366 where times.isDay(CivilDate(daysSinceEpoch: day)) {
            for minute in 0..<1440 where isTime(minute) {
                let found = zone.moment(of: day * 86_400 + Int64(minute) * 60)
                if found > moment { return found }
            }
        }
        return nil
    }

    private func isTime(_ minute: Int) -> Bool {
        times.hours >> (minute / 60) & 1 == 1 && times.minutes >> (minute % 60) & 1 == 1
    }

    /// Searches by the minute through what the clocks show, with larger steps where no minute can match.
    private func paced(after moment: Int64, _ zone: ZoneRules) -> Int64? {
        var now = (moment.floored(by: 60) + 1) * 60
        let end = now + Self.years * 366 * 86_400
        while now < end {
            let local = now + Int64(zone.offset(at: now))
            let day = local.floored(by: 86_400)
            let minute = Int((local - day * 86_400) / 60)
            guard times.isDay(CivilDate(daysSinceEpoch: day)) else {
                // Clocks may skip hours until midnight.
                now += minute < 1200 ? Int64(1200 - minute) * 60 : 60 * Int64(60 - minute % 60)
                continue
            }
            if isTime(minute) { return now }
            // Clocks are changed at the end of an hour, never within an hour that is skipped here.
            now += times.hours >> (minute / 60) & 1 == 1 ? 60 : 60 * Int64(60 - minute % 60)
        }
        return nil
    }
}

/// The offsets of a time zone from UTC. `Settings.TimeZones` makes those of a zone of the time zone database.
package struct ZoneRules: Sendable {
    private let offset: @Sendable (_ moment: Int64) -> Int

    package static let utc = ZoneRules { _ in 0 }

    /// - Parameter offset: Returns the offset from UTC in seconds at a moment, in seconds since 1970. An offset is less than a day.
    package init(offset: @escaping @Sendable (_ moment: Int64) -> Int) { self.offset = offset }

    /// Returns the offset from UTC in seconds.
    /// - Parameter moment: Seconds since 1970.
    func offset(at moment: Int64) -> Int { offset(moment) }

    /// Returns the first moment at which clocks show a local time. If they skip it, returns the first moment after the gap.
    /// - Parameter local: The local time in seconds since 1970, as if it were UTC.
    func moment(of local: Int64) -> Int64 {
        let day: Int64 = 86_400
        let before = offset(at: local - day)
        let after = offset(at: local + day)
        let candidates = [local - Int64(max(before, after)), local - Int64(min(before, after))]
        if let moment = candidates.first(where: { $0 + Int64(offset(at: $0)) == local }) { return moment }
        // Clocks jump from below `local` to above it at one moment in this interval.
        var (low, high) = (candidates[0] - day, candidates[1] + day)
        while high - low > 1 {
            let middle = (low + high) / 2
            if middle + Int64(offset(at: middle)) < local { low = middle } else { high = middle }
        }
        return high
    }
}

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
