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
