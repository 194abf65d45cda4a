import Basics
import BotSupport
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations

@Suite struct SchedulesTests {
    /// 2026-03-01 12:00 UTC.
    private static let noon = Timestamp(millisecondsSinceEpoch: 1_772_366_400_000)
    private static let branches = ["main", "release/1.0", "topic"]

    private func withSchedule(_ line: String, _ body: (Core) async throws -> Void) async throws {
        try await withCore(bots: ["kit": line]) { core in
            let request = try #require(try await core.store.repositoriesToScan().first)
            let heads = try Self.branches.enumerated().map { (RefName(branch: $1), try Samples.commit($0 + 1)) }
            _ = try await core.store.apply(
                RefScan(
                    request: request, heads: Dictionary(uniqueKeysWithValues: heads),
                    defaultBranch: .init(branch: "main"),
                    at: Self.noon, cause: .poll, watchers: []))
            try await body(core)
        }
    }

    private func schedules(_ core: Core) -> Schedules {
        Schedules(store: core.store, registry: core.registry, logger: core.log.logger)
    }

    private func queued(_ core: Core) async throws -> [String] {
        try await core.store.integrations(limit: 100).items.reversed().map(\.ref.shortName)
    }

    @Test(
        .proves(
            .intake,
            "A schedule integrates the default branch or `branches:`. A moment counts once, whatever the clock does and through restarts (C1)"
        ))
    func testThatItQueuesTheBranchesThatItNames() async throws {
        let line = "schedule: { cron: daily 12:05, branches: [main, \"release/*\"] }\n"
        try await withSchedule(line) { core in
            // given
            var schedules = schedules(core)
            try await schedules.queueDue(at: Self.noon)
            // when
            try await schedules.queueDue(at: Self.noon + .seconds(301))
            // then
            #expect(try await queued(core) == ["main", "release/1.0"])
            let events = try await core.store.deliveries().items
            #expect(events.map(\.source) == [.schedule, .schedule])
            #expect(events.first?.reason == "kit#2, asked for by the bot's schedule")
        }
    }

    @Test func testThatTheSameCommitIsIntegratedEachNight() async throws {
        try await withSchedule("schedule: 5 14 * * * Europe/Berlin\n") { core in
            // given
            var schedules = schedules(core)
            try await schedules.queueDue(at: Self.noon)
            // when: 13:05 UTC on three days
            for day in 0..<3 {
                try await schedules.queueDue(at: Self.noon + .seconds(day * 86_400 + 3899))
                #expect(try await queued(core).count == day)
                try await schedules.queueDue(at: Self.noon + .seconds(day * 86_400 + 3900))
            }
            // then
            #expect(try await queued(core) == ["main", "main", "main"])
        }
    }

    @Test(
        .proves(
            .intake,
            "A schedule integrates the default branch or `branches:`. A moment counts once, whatever the clock does and through restarts (C1)"
        ))
    func testC1ThatAClockThatJumpsQueuesNothingTwice() async throws {
        try await withSchedule("schedule: daily 12:05\n") { core in
            // given
            var schedules = schedules(core)
            try await schedules.queueDue(at: Self.noon)
            try await schedules.queueDue(at: Self.noon + .seconds(600))
            #expect(try await queued(core).count == 1)
            // when: the clock goes back by an hour, and passes the moment again
            try await schedules.queueDue(at: Self.noon + .seconds(-3000))
            try await schedules.queueDue(at: Self.noon + .seconds(700))
            // then
            #expect(try await queued(core).count == 1)
            // when: the clock goes forward by a year
            let year = Duration.seconds(365 * 86_400)
            try await schedules.queueDue(at: Self.noon + year)
            try await schedules.queueDue(at: Self.noon + year + .seconds(1))
            // then
            #expect(try await queued(core).count == 2)
            // when: the clock is set right, and goes on to the next day, also with a daemon that starts then
            try await schedules.queueDue(at: Self.noon + .seconds(800))
            #expect(try await queued(core).count == 2)
            try await schedules.queueDue(at: Self.noon + .seconds(86_400 + 600))
            #expect(try await queued(core).count == 3)
            var others = self.schedules(core)
            try await others.queueDue(at: Self.noon + .seconds(86_400 + 700))
            #expect(try await queued(core).count == 3)
        }
    }

    @Test(
        .proves(
            .intake,
            "A schedule integrates the default branch or `branches:`. A moment counts once, whatever the clock does and through restarts (C1)"
        ))
    func testThatWhatWasMissedIsMadeUpForOnce() async throws {
        try await withSchedule("schedule: daily 12:05\n") { core in
            // given
            var before = schedules(core)
            try await before.queueDue(at: Self.noon)
            // when: the daemon was down for three nights
            var after = schedules(core)
            try await after.queueDue(at: Self.noon + .seconds(3 * 86_400))
            // then
            #expect(try await queued(core).count == 1)
            // when
            var last = schedules(core)
            try await last.queueDue(at: Self.noon + .seconds(3 * 86_400 + 10))
            // then
            #expect(try await queued(core).count == 1)
        }
    }

    @Test func testThatAScheduleThatIsNewOrChangedBeginsThen() async throws {
        try await withSchedule("schedule: daily 11:00\n") { core in
            // given
            var schedules = schedules(core)
            try await schedules.queueDue(at: Self.noon)
            #expect(try await queued(core).isEmpty)
            // when
            try core.directory.write("bots/kit.yml", "repository: \(core.repository())\nschedule: daily 10:00\n")
            await core.registry.reload()
            try await schedules.queueDue(at: Self.noon + .seconds(60))
            var others = self.schedules(core)
            try await others.queueDue(at: Self.noon + .seconds(61))
            // then
            #expect(try await queued(core).isEmpty)
            #expect(try await core.store.scheduleMarks().map(\.schedule) == ["0 10 * * * UTC"])
        }
    }

    @Test func testThatADaemonThatStartsWithAnotherScheduleMakesUpForNothing() async throws {
        try await withSchedule("schedule: daily 11:00\n") { core in
            // given
            var before = schedules(core)
            try await before.queueDue(at: Self.noon)
            // when: it was down for three days
            try core.directory.write("bots/kit.yml", "repository: \(core.repository())\nschedule: daily 10:00\n")
            await core.registry.reload()
            var after = schedules(core)
            try await after.queueDue(at: Self.noon + .seconds(3 * 86_400))
            // then
            #expect(try await queued(core).isEmpty)
        }
    }

    @Test func testThatAChangedScheduleIsKeptAtOnce() async throws {
        try await withSchedule("schedule: daily 11:00\n") { core in
            // given
            var schedules = schedules(core)
            try await schedules.queueDue(at: Self.noon)
            // when
            try core.directory.write("bots/kit.yml", "repository: \(core.repository())\nschedule: daily 12:05\n")
            await core.registry.reload()
            try await schedules.queueDue(at: Self.noon + .seconds(60))
            try await schedules.queueDue(at: Self.noon + .seconds(301))
            // then
            #expect(try await queued(core) == ["main"])
        }
    }

    @Test(
        .proves(
            .intake,
            "A schedule integrates the default branch or `branches:`. A moment counts once, whatever the clock does and through restarts (C1)"
        ))
    func testThatAScheduleThatGoesAndComesBackBeginsAnew() async throws {
        try await withSchedule("schedule: daily 12:05\n") { core in
            // given: one that an earlier daemon knew, and that this one read three times
            var before = self.schedules(core)
            try await before.queueDue(at: Self.noon)
            var schedules = schedules(core)
            for day in 0..<3 {
                try await schedules.queueDue(at: Self.noon + .seconds(day * 86_400))
                try await schedules.queueDue(at: Self.noon + .seconds(day * 86_400 + 300))
            }
            let count = try await queued(core).count
            let now = Self.noon + .seconds(2 * 86_400 + 600)
            for line in ["schedule: daily 12:05\n", "", "schedule: daily 12:05\n"] {
                // when: the line is removed and added again; and the whole file
                for content in [nil, "repository: \(core.repository())\n\(line)"] {
                    if let content {
                        try core.directory.write("bots/kit.yml", content)
                    } else {
                        try core.directory.directory().remove("bots/kit.yml")
                    }
                    await core.registry.reload()
                    try await schedules.queueDue(at: now)
                }
            }
            // then
            #expect(try await queued(core).count == count)
        }
    }

    @Test(
        .proves(
            .intake,
            "A schedule integrates the default branch or `branches:`. A moment counts once, whatever the clock does and through restarts (C1)"
        ))
    func testC1ThatAClockThatStartsInThePastQueuesNothingTwice() async throws {
        try await withSchedule("schedule: daily 12:05\n") { core in
            // given
            var before = schedules(core)
            try await before.queueDue(at: Self.noon)
            try await before.queueDue(at: Self.noon + .seconds(300))
            // when: a machine without a clock of its own starts with a time of months before, and then gets the time
            var after = schedules(core)
            try await after.queueDue(at: Self.noon + .seconds(-90 * 86_400))
            try await after.queueDue(at: Self.noon + .seconds(600))
            // then
            #expect(try await queued(core).count == 1)
            // when
            try await after.queueDue(at: Self.noon + .seconds(86_400 + 300))
            // then
            #expect(try await queued(core).count == 2)
        }
    }
}
