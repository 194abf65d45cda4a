import BotSupport
import Integrations
import Model
import Notifications
import Storage
import TestSupport
import Testing

/// The duration of the outbox's retries, and its pauses.
@Suite struct OutboxPatienceTests {
    private static let kit = OutboxFixture.destination("kit")
    private static let down = OutboxOutcome.failed(OutboxFailure("connection refused"))
    private static let own = OutboxOutcome.failed(OutboxFailure("500", isOfDestination: false))

    /// Makes a destination fail several times in a row, with time for each try.
    private static func fail(
        _ fixture: OutboxFixture, _ count: Int, from first: Int = 1, each pause: Duration = .seconds(300)
    ) async throws {
        for number in first..<first + count {
            _ = try await until("try \(number)") {
                let messages = try await fixture.store.outbox(limit: 200).items
                return messages.reduce(0) { $0 + $1.tries } == number && !messages.contains { $0.state == .sending }
            }
            if number < first + count - 1 { await fixture.pass(pause) }
        }
    }

    @Test(
        .proves(
            .intake,
            "Messages are retried with backoff and jitter, and `Retry-After` is honored up to 6 h. A refused one is given up with its reason, others after a day and at least 5 failures"
        ))
    func testThatItIsGivenUpAfterADayOfTries() async throws {
        try await withOutbox { fixture in
            // given: a service that requests a pause of six hours each time
            let limited = OutboxOutcome.failed(OutboxFailure("429", retryAfter: Outbox.longestRetryAfter))
            for _ in 1...5 { fixture.sender.answer(Self.kit, with: limited) }
            _ = try await fixture.queue()
            try await fixture.running {
                try await Self.fail(fixture, 5, each: Outbox.longestRetryAfter + .seconds(10))
                try await fixture.messages("the end") { $0[0].state == .givenUp }
            }
            let note = try #require(try await fixture.store.outbox().items.first?.note)
            expectContains(note, "given up after 5 tries in 24 h; the last: 429")
            expectContains(note, "martlet outbox --retry 1")
        }
    }

    /// A machine that sleeps over a weekend, or whose clock is set, finds no network at first.
    @Test(
        .proves(
            .intake,
            "A sleep of the machine, or a set clock, gives no message up and keeps nothing busy; what a killed daemon was sending is continued once that can be stored"
        ), arguments: [Duration.seconds(3 * 86_400), .seconds(-3 * 86_400), .seconds(20_000 * 86_400)])
    func testThatADayThatNobodyLivedThroughLosesNothing(_ jump: Duration) async throws {
        try await withOutbox { fixture in
            for _ in 1...12 { fixture.sender.answer(Self.kit, with: Self.down) }
            for number in 1...3 { _ = try await fixture.queue("kit", number) }
            try await fixture.running {
                try await Self.fail(fixture, 5)
                // when: only the wall clock advances
                await fixture.timer.awaitSleepers()
                fixture.time.advance(by: jump)
                await fixture.pass(.seconds(300))
                try await Self.fail(fixture, 7, from: 6)
                // then
                #expect(try await fixture.store.outbox().items.allSatisfy { $0.state == .waiting })
                await fixture.pass(.seconds(300))
                try await fixture.messages("all") { $0.allSatisfy { $0.state == .sent } }
            }
        }
    }

    @Test(
        .proves(
            .intake,
            "Messages are retried with backoff and jitter, and `Retry-After` is honored up to 6 h. A refused one is given up with its reason, others after a day and at least 5 failures"
        ))
    func testThatADayWithoutADaemonLosesNothing() async throws {
        try await withOutbox { fixture in
            // given: it failed before, and the daemon was down for two days
            for _ in 1...6 { fixture.sender.answer(Self.kit, with: Self.down) }
            _ = try await fixture.queue()
            try await fixture.running { try await Self.fail(fixture, 5) }
            fixture.time.advance(by: Outbox.patience + Outbox.patience)
            // when: it fails once more
            try await fixture.running {
                try await Self.fail(fixture, 1, from: 6)
                let message = try #require(try await fixture.store.outbox().items.first)
                #expect(message.state == .waiting)
                await fixture.pass(.seconds(300))
                // then
                try await fixture.messages("the end") { $0[0].state == .sent }
            }
        }
    }

    @Test(
        .proves(
            .intake,
            "Messages are retried with backoff and jitter, and `Retry-After` is honored up to 6 h. A refused one is given up with its reason, others after a day and at least 5 failures"
        ),
        .proves(
            .intake,
            "The result of a try is kept until it can be stored; ended rows are trimmed while running; messages for a failing destination are bounded by number and age"
        ))
    func testThatWhatNobodyTriedIsGivenUpWithItsDestination() async throws {
        try await withOutbox { fixture in
            for _ in 1...6 { fixture.sender.answer(Self.kit, with: Self.down) }
            for number in 1...60 { _ = try await fixture.queue("kit", number) }
            try await fixture.running {
                try await Self.fail(fixture, 5)
                await fixture.pass(Outbox.patience)
                try await fixture.messages("all given up") { messages in
                    messages.count(where: { $0.state == .givenUp }) >= 59
                }
            }
            #expect(fixture.sender.given.count == 6)
            let notes = try await fixture.store.outbox(limit: 200).items.compactMap(\.note)
            #expect(notes.contains { $0.hasPrefix("given up: \(Self.kit) accepted no message for 24 h") })
        }
    }

    @Test(
        .proves(
            .intake,
            "A message refused for its token (401, 403) waits for another; each account of a forge pauses by itself; a series of failures is the destination's"
        ))
    func testThatMessagesThatFailOneAfterTheOtherAreTheirDestinationsFailure() async throws {
        try await withOutbox { fixture in
            for _ in 1...Outbox.mostOwnFailures { fixture.sender.answer(Self.kit, with: Self.own) }
            for number in 1...20 { _ = try await fixture.queue("kit", number) }
            try await fixture.running {
                try await Self.fail(fixture, 1, from: Outbox.mostOwnFailures)
                await fixture.timer.awaitSleepers()
                #expect(fixture.sender.given.count == Outbox.mostOwnFailures)
                await fixture.pass(.seconds(3))
                try await fixture.messages("the rest") { $0.allSatisfy { $0.state == .sent } }
            }
        }
    }

    @Test(
        .proves(
            .intake, "A bot whose file is missing for a moment still tells; after 10 minutes its messages are dropped"))
    func testThatABotThatIsMissingForAMomentIsWaitedFor() async throws {
        try await withOutbox { fixture in
            fixture.sender.answer(Self.kit, with: .absent)
            _ = try await fixture.queue()
            try await fixture.running {
                try await fixture.messages("the first try") { $0[0].tries == 1 && $0[0].state == .waiting }
                await fixture.pass(.seconds(3))
                try await fixture.messages("the end") { $0[0].state == .sent }
            }
        }
    }

    @Test(
        .proves(
            .intake, "A bot whose file is missing for a moment still tells; after 10 minutes its messages are dropped"))
    func testThatABotThatStaysAwayTellsNobody() async throws {
        try await withOutbox { fixture in
            for _ in 1...4 { fixture.sender.answer(Self.kit, with: .absent) }
            _ = try await fixture.queue()
            try await fixture.running {
                try await Self.fail(fixture, 2)
                await fixture.pass(.seconds(300))
                try await fixture.messages("the end") { $0[0].state == .unneeded }
            }
            #expect(try await fixture.store.outbox().items.first?.note == "there is no bot kit any more")
        }
    }

    @Test func testThatOneSleeperWaitsForWhatIsFarAway() async throws {
        try await withOutbox(["kit", "far"]) { fixture in
            fixture.sender.answer(
                OutboxFixture.destination("far"), with: .failed(OutboxFailure("429", retryAfter: .seconds(3000))))
            for _ in 1...5 { fixture.sender.answer(Self.kit, with: Self.down) }
            _ = try await fixture.queue("far")
            _ = try await fixture.queue("kit")
            try await fixture.running {
                // when: short alarms ring
                for count in 1...5 {
                    try await fixture.messages("try \(count)") {
                        $0[1].tries == count && $0.allSatisfy { $0.state == .waiting }
                    }
                    await until("who sleeps") { fixture.timer.sleeperCount >= 1 }
                    await fixture.pass(.seconds(300))
                }
                try await fixture.messages("the end") { $0[1].state == .sent }
                // then
                #expect(fixture.timer.sleeperCount <= 2)
            }
        }
    }

    /// A pause that ends later than any, by a clock that was set back a little, and a message that is due before it.
    @Test(
        .proves(
            .intake,
            "A sleep of the machine, or a set clock, gives no message up and keeps nothing busy; what a killed daemon was sending is continued once that can be stored"
        ))
    func testThatAClockThatIsSetBackKeepsNobodyBusy() async throws {
        try await withOutbox(["kit", "far"]) { fixture in
            // given: one that is due in some minutes, and its destination is paused for six hours
            fixture.sender.answer(
                Self.kit,
                with: .failed(OutboxFailure("busy", retryAfter: .seconds(900), isOfDestination: false)),
                .failed(OutboxFailure("429", retryAfter: Outbox.longestRetryAfter)))
            for number in 1...2 { _ = try await fixture.queue("kit", number) }
            try await fixture.running {
                try await fixture.messages("both tries") { $0.allSatisfy { $0.tries == 1 && $0.state == .waiting } }
                await fixture.timer.awaitSleepers()
                // when
                fixture.time.advance(by: .seconds(-300))
                _ = try await fixture.queue("far")
                try await fixture.messages("the other's") { $0[2].state == .sent }
                // then: a task sleeps until the first is due
                await fixture.timer.awaitSleepers(2)
                await fixture.pass(Outbox.longestRetryAfter + .seconds(400))
                try await fixture.messages("all") { $0.allSatisfy { $0.state == .sent } }
            }
        }
    }
}
