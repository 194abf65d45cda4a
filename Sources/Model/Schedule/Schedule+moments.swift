extension BotSpecification.Schedule {
    /// The first of its moments after another, to the minute.
    ///
    /// Times of day that the zone's clocks leave out come at the first moment after, those that they show twice at the first of
    /// both. With `*` for the minute or the hour it is a pace and goes by what clocks show, through both.
    /// - Returns: Nothing when there is none in the next 30 years.
    package func next(after moment: Timestamp, in zone: ZoneRules) -> Timestamp? {
        let seconds = moment.millisecondsSinceEpoch.floored(by: 1000)
        let found = times.isFixed ? fixed(after: seconds, zone) : paced(after: seconds, zone)
        return found.map { Timestamp(secondsSinceEpoch: $0) }
    }

    /// Without end: 29 February on one weekday comes again after 28 years, or after 40 where a century has no leap day.
    private static let years: Int64 = 41

    /// Times of day in their order; each moment is not before that of the one before.
    private func fixed(after moment: Int64, _ zone: ZoneRules) -> Int64? {
        // Clocks have left out a whole day, and an offset is less than one.
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

    /// Minute by minute of what clocks show, with longer strides where no minute can be one.
    private func paced(after moment: Int64, _ zone: ZoneRules) -> Int64? {
        var now = (moment.floored(by: 60) + 1) * 60
        let end = now + Self.years * 366 * 86_400
        while now < end {
            let local = now + Int64(zone.offset(at: now))
            let day = local.floored(by: 86_400)
            let minute = Int((local - day * 86_400) / 60)
            guard times.isDay(CivilDate(daysSinceEpoch: day)) else {
                // Clocks may go forward by hours until midnight.
                now += minute < 1200 ? Int64(1200 - minute) * 60 : 60 * Int64(60 - minute % 60)
                continue
            }
            if isTime(minute) { return now }
            // Clocks go forward and back at an hour's end, never within one that is left out here.
            now += times.hours >> (minute / 60) & 1 == 1 ? 60 : 60 * Int64(60 - minute % 60)
        }
        return nil
    }
}
