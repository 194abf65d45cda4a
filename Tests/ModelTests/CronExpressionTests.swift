import Foundation
import Model
import TestSupport
import Testing

@Suite struct CronExpressionTests {
    /// Moments in UTC after 2026-03-01T12:00:00Z, a Sunday.
    @Test(
        .proves(
            .intake,
            "Schedules: daily, weekly, cron expressions with crontab(5)'s rule of days, impossible days refused"),
        arguments: [
            ("30 2 * * 1-5", "2026-03-02T02:30"), ("0 0 1 1 *", "2027-01-01T00:00"), ("@yearly", "2027-01-01T00:00"),
            ("@annually", "2027-01-01T00:00"), ("@monthly", "2026-04-01T00:00"), ("@weekly", "2026-03-08T00:00"),
            ("@Daily", "2026-03-02T00:00"), ("@midnight", "2026-03-02T00:00"), ("@hourly", "2026-03-01T13:00"),
            ("*/15 * * * *", "2026-03-01T12:15"), ("5-59/15 12 * * *", "2026-03-01T12:05"),
            ("0,30 13,14 * * *", "2026-03-01T13:00"), ("0 12 * * sun", "2026-03-08T12:00"),
            ("0 12 * * 0", "2026-03-08T12:00"), ("0 12 * * 7", "2026-03-08T12:00"),
            ("0 4 * FEB mon-Wed", "2027-02-01T04:00"),
            ("0 4 * jan,dec *", "2026-12-01T04:00"), ("0 0 29 2 *", "2028-02-29T00:00"),
            ("0 0 */10 * *", "2026-03-11T00:00"), ("0 0 * * 5-7", "2026-03-06T00:00"),
            // If both days are restricted, either matches. If one begins with `*`, both must match.
            ("0 0 13 * 5", "2026-03-06T00:00"), ("0 0 10 * 5", "2026-03-06T00:00"), ("0 0 3 * 5", "2026-03-03T00:00"),
            ("0 0 */2 * 5", "2026-03-13T00:00"), ("0 0 13 * */5", "2026-03-13T00:00"),
            ("0 0 29 2 */6", "2032-02-29T00:00"), ("  0   0\t31 * *  ", "2026-03-31T00:00"),
        ])
    func testThatItsNextMomentIsAsCrontabSays(text: String, expected: String) throws {
        // given
        let noon = Timestamp(millisecondsSinceEpoch: 1_772_366_400_000)
        let schedule = BotSpecification.Schedule(text: text, times: try CronExpression(text))

        // when
        let next = try #require(schedule.next(after: noon, in: .utc))

        // then
        #expect(next.description == expected + ":00.000Z")
    }

    @Test(
        .proves(
            .intake,
            "Schedules: daily, weekly, cron expressions with crontab(5)'s rule of days, impossible days refused"),
        arguments: [
            ("", "five fields"), ("0 0 * *", "not 4"), ("0 0 0 * * 1", "not 6; seconds are not among them"),
            ("60 0 * * *", "the minute is 0 to 59, not 60"), ("0 24 * * *", "the hour is 0 to 23"),
            ("0 0 0 * *", "1 to 31, not 0"),
            ("0 0 32 * *", "not 32"), ("0 0 * 13 *", "the month is 1 to 12"), ("0 0 * * 8", "0 to 7, not 8"),
            ("0 0 30 2 *", "no year has the day"), ("0 0 31 4,6,9,11 *", "no year has the day"),
            ("0 22-2 * * *", "write 22-23,0-2"), ("5/15 * * * *", "write 5-59/15"), ("*/0 * * * *", "is no minute"),
            ("0 0 * * 1#2", "is no day of the week"), ("0 0 L * *", "is no day of the month"),
            ("H 2 * * *", "is no minute"),
            ("0 0 ? * *", "is no day of the month"), ("0 0 , * *", "is no day of the month"),
            ("-1 0 * * *", "is no minute"),
            ("0 0 1-2-3 * *", "is no day"), ("0 0 1/2/3 * *", "is no day"), ("0 0 * foo *", "or jan to dec"),
            ("@reboot", "is not a time"), ("@fortnightly", "@hourly"), ("99999999999999999999 0 * * *", "is no minute"),
        ])
    func testThatItSaysWhatIsWrong(text: String, message: String) {
        do {
            _ = try CronExpression(text)
            Issue.record("\(text) was taken")
        } catch {
            #expect(error.message.contains(message))
        }
    }

    @Test func testThatAScheduleOfAnEarlierVersionIsRead() throws {
        func read(_ text: String) throws -> BotSpecification.Schedule {
            try JSONDecoder().decode(BotSpecification.Schedule.self, from: Data(text.utf8))
        }
        #expect(try read(#"{"daily":{"hour":2,"minute":5}}"#) == .daily(hour: 2, minute: 5))
        let weekly = try read(#"{"weekly":{"weekday":7,"hour":2,"minute":5}}"#)
        #expect(weekly == .weekly(weekday: 7, hour: 2, minute: 5))
        let cron = BotSpecification.Schedule(
            text: "0 4 * * 1", times: try CronExpression("0 4 * * 1"), zone: "Europe/Berlin",
            branches: [RefPattern("release/*")])
        #expect(try read(String(decoding: try JSONEncoder().encode(cron), as: UTF8.self)) == cron)
        #expect(throws: (any Error).self) { try read(#"{"daily":{"hour":24,"minute":5}}"#) }
        #expect(BotSpecification.Schedule.daily(hour: 24, minute: 0) == nil)
        #expect(BotSpecification.Schedule.weekly(weekday: 8, hour: 2, minute: 0) == nil)
        #expect(BotSpecification.Schedule.weekly(weekday: 7, hour: 2, minute: 5)?.text == "weekly sunday 02:05")
    }
}
