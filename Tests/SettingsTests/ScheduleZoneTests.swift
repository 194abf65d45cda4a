import Foundation
import Model
import Settings
import TestSupport
import Testing

/// Moments in zones whose clocks change. The figures are those of zdump(8).
@Suite struct ScheduleZoneTests {
    @Suite struct WhenClocksGoForward {
        /// Berlin never shows 02:00 to 02:59 on 2026-03-29.
        @Test(
            .proves(
                .intake,
                "A schedule is in a time zone. A time that clocks skip or repeat comes once. An unknown zone is an error with a suggestion"
            ),
            arguments: [
                ("30 2 * * *", "2026-03-28T12:00", ["2026-03-29T01:00", "2026-03-30T00:30"]),
                ("0,15,30 2 * * *", "2026-03-28T12:00", ["2026-03-29T01:00", "2026-03-30T00:00"]),
                ("0 3 * * *", "2026-03-28T12:00", ["2026-03-29T01:00", "2026-03-30T01:00"]),
                ("59 1 * * *", "2026-03-28T12:00", ["2026-03-29T00:59", "2026-03-29T23:59"]),
                // A step such as `*/30` follows the clocks: no skipped time is made up for.
                ("*/30 * * * *", "2026-03-29T00:00", ["2026-03-29T00:30", "2026-03-29T01:00", "2026-03-29T01:30"]),
                ("*/30 2 * * *", "2026-03-28T12:00", ["2026-03-30T00:00"]),
            ])
        func testThatWhatIsLeftOutComesOnceAtTheFirstMomentAfter(cron: String, from: String, expected: [String]) throws
        {
            try expectMoments(cron, "Europe/Berlin", from, expected)
        }

        @Test func testThatADayThatIsLeftOutComesOnce() throws {
            try expectMoments(
                "0 12 * * *", "Pacific/Apia", "2011-12-29T23:00", ["2011-12-30T10:00", "2011-12-30T22:00"])
        }

        @Test func testThatHalfAnHourCounts() throws {
            try expectMoments(
                "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00", ["2026-10-03T15:30", "2026-10-04T15:15"])
        }
    }

    @Suite struct WhenClocksGoBack {
        /// Berlin shows 02:00 to 02:59 twice on 2026-10-25.
        @Test(
            .proves(
                .intake,
                "A schedule is in a time zone. A time that clocks skip or repeat comes once. An unknown zone is an error with a suggestion"
            ),
            arguments: [
                ("30 2 * * *", "2026-10-24T12:00", ["2026-10-25T00:30", "2026-10-26T01:30"]),
                ("0 3 * * *", "2026-10-24T12:00", ["2026-10-25T02:00", "2026-10-26T02:00"]),
                ("30 1,2 * * *", "2026-10-24T12:00", ["2026-10-24T23:30", "2026-10-25T00:30", "2026-10-26T00:30"]),
                ("30 * * * *", "2026-10-25T00:00", ["2026-10-25T00:30", "2026-10-25T01:30", "2026-10-25T02:30"]),
            ])
        func testThatWhatIsShownTwiceComesOnce(cron: String, from: String, expected: [String]) throws {
            try expectMoments(cron, "Europe/Berlin", from, expected)
        }
    }

    /// Beyond the years whose changes the database lists, and in zones of odd rules: Dublin's summer is its standard time, Tehran has none.
    @Test(
        .proves(
            .intake,
            "A schedule is in a time zone. A time that clocks skip or repeat comes once. An unknown zone is an error with a suggestion"
        ),
        arguments: [
            ("Europe/Berlin", "2080-06-01T00:00", "2080-06-01T10:00"),
            ("Europe/Berlin", "2080-01-01T00:00", "2080-01-01T11:00"),
            ("Europe/Dublin", "2080-06-01T00:00", "2080-06-01T11:00"),
            ("Europe/Dublin", "2080-01-01T00:00", "2080-01-01T12:00"),
            ("America/New_York", "2026-07-01T00:00", "2026-07-01T16:00"),
            ("Asia/Kolkata", "2026-07-01T00:00", "2026-07-01T06:30"),
            ("Asia/Kathmandu", "2090-07-01T00:00", "2090-07-01T06:15"),
            ("Pacific/Auckland", "2080-01-01T00:00", "2080-01-01T23:00"),
            ("UTC", "2026-07-01T00:00", "2026-07-01T12:00"), ("Etc/GMT+5", "2026-07-01T00:00", "2026-07-01T17:00"),
        ])
    func testThatNoonIsTheZones(zone: String, from: String, expected: String) throws {
        try expectMoments("0 12 * * *", zone, from, [expected])
    }

    /// Foundation takes abbreviations, offsets and other spellings for zones, too.
    @Test(arguments: [
        "", "IST", "PST", "GMT+5", "GMT+0500", "UTC+2", "utc", "Factory", "Europe/Nowhere",
    ])
    func testThatOtherTextsAreNoZone(name: String) { #expect(TimeZones.rules(of: name) == nil) }

    /// The names of tzdata without a region, which bot files of earlier versions may have.
    @Test(arguments: ["Japan", "Singapore", "GB", "NZ", "Israel", "Turkey", "PRC", "W-SU", "Zulu", "EST5EDT"])
    func testThatAnOldNameWithoutARegionIsAZone(name: String) { #expect(TimeZones.rules(of: name) != nil) }

    @Test func testThatANameWithANULIsNoZone() { #expect(TimeZones.rules(of: "Europe/Berlin\0") == nil) }
}

/// `yyyy-mm-ddThh:mm` in UTC.
private func moment(_ text: String) throws -> Timestamp {
    let date = try #require(ISO8601DateFormatter().date(from: text + ":00Z"))
    return Timestamp(secondsSinceEpoch: Int64(date.timeIntervalSince1970))
}

private func expectMoments(
    _ cron: String, _ zone: String, _ from: String, _ expected: [String],
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let rules = try #require(TimeZones.rules(of: zone))
    let schedule = BotSpecification.Schedule(text: cron, times: try CronExpression(cron))
    var found: [String] = []
    var now = try moment(from)
    for _ in expected {
        now = try #require(schedule.next(after: now, in: rules))
        found.append(String(now.description.prefix(16)))
    }
    #expect(found == expected, sourceLocation: sourceLocation)
}
