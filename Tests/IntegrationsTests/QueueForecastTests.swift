import BotSupport
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations

@Suite struct QueueForecastTests {
    private static let now = Timestamp(secondsSinceEpoch: 10_000)

    /// Returns an entry of the queue.
    /// - Parameters:
    ///   - running: How many seconds ago it began; `nil` if it waits.
    ///   - usual: How many seconds its branch usually takes.
    private static func entry(
        _ number: Int, bot: String = "kit", branch: String = "main", cause: Cause = .push, running: Int64? = nil,
        usual: Int64? = 60, waitingJobs: Int = 0, runningJobs: Int = 0
    ) throws -> QueueEntry {
        let ref = RefName(branch: branch)
        var record = try Samples.integration(number, bot: bot, ref: ref, cause: cause)
        record.queuedAt = now + .seconds(-500)
        if let running {
            record.state = .running(.running)
            record.startedAt = now + .seconds(-running)
        }
        return QueueEntry(
            open: try Samples.open(number, bot: bot, ref: ref, cause: cause), outline: record.outline,
            waitingJobs: waitingJobs, runningJobs: runningJobs, past: usual.map { [.seconds($0)] } ?? [])
    }

    private static func forecast(
        running: [QueueEntry] = [], _ queued: [QueueEntry], total: Int? = nil, slots: Int = 2, shortage: String? = nil
    ) -> QueueForecast {
        QueueForecast(
            running: running, queued: queued, total: total ?? queued.count, capacity: slots + 1, shortage: shortage,
            now: now)
    }

    @Test(
        .proves(
            .web, "The queue shows what runs and what waits, in order, with reason and estimated start and end"))
    func testThatWhatWaitsIsInOrderWithReasonsAndEstimates() throws {
        // given: three integrations run, which is one more than the slots
        let running = [
            try Self.entry(41, running: 20), try Self.entry(1, bot: "app", running: 50),
            try Self.entry(1, bot: "lib", running: 0, usual: 300),
        ]
        let queued = [
            try Self.entry(42), try Self.entry(43), try Self.entry(2, bot: "tool"),
        ]
        // when
        let forecast = Self.forecast(running: running, queued)
        // then
        #expect(forecast.waiting.map(\.integration.id.description) == ["tool#2", "kit#42", "kit#43"])
        #expect(
            forecast.waiting.map(\.reason) == [
                "both slots are busy", "waits for kit#41 on the same branch", "waits for kit#42 on the same branch",
            ])
        let times = forecast.waiting.map { [$0.start, $0.end].map { $0.map { ($0 - Self.now).seconds } } }
        // app ends after 10 s, kit#41 after 40 s.
        #expect(times == [[10, 70], [40, 100], [100, 160]])
        #expect(forecast.running.map { $0.end.map { ($0 - Self.now).seconds } } == [40, 10, 300])
        #expect(forecast.slots == 2 && forecast.more == 0)
    }

    @Test func testThatAUsersIntegrationGoesFirst() throws {
        let running = [try Self.entry(1, running: 0), try Self.entry(1, bot: "app", running: 0)]
        let queued = [try Self.entry(2, bot: "lib"), try Self.entry(3, bot: "tool", cause: .person)]
        let forecast = Self.forecast(running: running, queued, slots: 1)
        #expect(forecast.waiting.map(\.integration.id.description) == ["tool#3", "lib#2"])
        #expect(forecast.waiting.map(\.reason) == ["is about to start", "the slot is busy"])
    }

    @Test func testThatWhatFollowsAnUnknownLengthHasNoEstimate() throws {
        // given
        let running = [try Self.entry(1, running: 10, usual: nil)]
        // when
        let forecast = Self.forecast(running: running, [try Self.entry(2), try Self.entry(3)], total: 9)
        // then
        #expect(forecast.waiting.map(\.integration.id.number) == [2, 3])
        #expect(forecast.waiting.allSatisfy { $0.start == nil && $0.end == nil && $0.usual == .seconds(60) })
        #expect(forecast.running.map(\.end) == [nil] && forecast.more == 7)
    }

    @Test func testThatARunningOneSaysWhyItsJobsWait() throws {
        let waiting = try Self.entry(1, running: 10, waitingJobs: 2)
        let working = try Self.entry(2, bot: "app", running: 10, waitingJobs: 1, runningJobs: 1)
        let usual = Self.forecast(running: [waiting, working], [], slots: 4)
        let full = Self.forecast(running: [waiting], [try Self.entry(3, bot: "lib")], shortage: "1 GB of 10 GB is free")
        #expect(usual.running.map(\.reason) == ["all 4 slots are busy", nil])
        #expect(full.running.map(\.reason) == ["waits for room: 1 GB of 10 GB is free"])
        #expect(full.waiting.map(\.reason) == ["waits for room: 1 GB of 10 GB is free"])
    }

    @Test func testThatAnOverdueOneEndsNow() throws {
        let running = [try Self.entry(1, running: 500)]
        let forecast = Self.forecast(running: running, [try Self.entry(2)])
        #expect(forecast.running.map { $0.end.map { ($0 - Self.now).seconds } } == [-440])
        #expect(forecast.waiting.map { $0.start } == [Self.now])
    }
}
