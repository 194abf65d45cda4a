import BotSupport
import Integrations
import Model
import Notifications
import Storage
import TestSupport
import Testing

/// The life of the outbox's rows, and the messages that share a serial queue.
@Suite struct OutboxRowsTests {
    private static let kit = OutboxFixture.destination("kit")

    @Test(
        .proves(
            .intake,
            "The result of a try is kept until it can be stored; ended rows are trimmed while running; messages for a failing destination are bounded by number and age"
        ), .program("python3"))
    func testThatWhatCannotBeStoredIsKeptAndStoredBeforeAnythingElseIsSent() async throws {
        try await withOutbox { fixture in
            // given: the result of a try cannot be stored
            fixture.log.expectErrors(containing: "sending stopped")
            for number in 1...2 { _ = try await fixture.queue("kit", number) }
            try await fixture.sql(
                """
                CREATE TRIGGER broken BEFORE UPDATE ON outbox WHEN NEW.state = 'sent'
                BEGIN SELECT RAISE(ABORT, 'broken'); END
                """)
            try await fixture.running {
                await until("the first try") { fixture.sender.given.count == 1 }
                await fixture.timer.awaitSleepers()
                // when: it is due again, and still cannot be stored
                await fixture.pass(.seconds(5))
                await fixture.timer.awaitSleepers()
                // then: nothing else is sent meanwhile, and nothing twice
                #expect(fixture.sender.given.count == 1)
                #expect(try await fixture.store.outbox().items.map(\.state) == [.waiting, .sending])
                // when
                try await fixture.sql("DROP TRIGGER broken")
                await fixture.pass(.seconds(10))
                // then
                try await fixture.messages("both") { $0.allSatisfy { $0.state == .sent } }
            }
            #expect(fixture.sender.given.map(\.integration?.number) == [1, 2])
        }
    }

    @Test(
        .proves(
            .intake,
            "A sleep of the machine, or a set clock, gives no message up and keeps nothing busy; what a killed daemon was sending is continued once that can be stored"
        ), .program("python3"))
    func testThatWhatADaemonLeftIsTakenUpOnceThatCanBeStored() async throws {
        try await withOutbox { fixture in
            // given: a try of a killed daemon, and a disk that is full at the start
            fixture.log.expectErrors(containing: "the outbox cannot be read")
            for number in 1...2 { _ = try await fixture.queue("kit", number) }
            let place = OutboxPlace(kind: .status, name: Self.kit, account: "token")
            _ = try await fixture.store.takeMessage(for: place, at: fixture.time.now, horizon: .seconds(60))
            try await fixture.sql(
                """
                CREATE TRIGGER broken BEFORE UPDATE ON outbox WHEN OLD.state = 'sending' AND NEW.state = 'waiting'
                BEGIN SELECT RAISE(ABORT, 'broken'); END
                """)
            try await fixture.running {
                await fixture.timer.awaitSleepers()
                #expect(fixture.sender.given.isEmpty)
                // when
                try await fixture.sql("DROP TRIGGER broken")
                await fixture.pass(Outbox.storePause)
                // then
                try await fixture.messages("both") { $0.allSatisfy { $0.state == .sent } }
            }
            #expect(fixture.sender.given.map(\.isUncertain).sorted { $0 && !$1 } == [true, false])
        }
    }

    @Test(
        .proves(
            .intake,
            "The result of a try is kept until it can be stored; ended rows are trimmed while running; messages for a failing destination are bounded by number and age"
        ))
    func testThatOldRowsAreRemovedWhileItRuns() async throws {
        try await withOutbox { fixture in
            var limits = OutboxLimits()
            limits.trimInterval = 4
            limits.keptRows = 3
            try await fixture.running(limits) {
                for number in 1...3 { _ = try await fixture.queue("kit", number) }
                try await fixture.messages("three that are sent") { $0.map(\.state) == [.sent, .sent, .sent] }
                // when: the fourth
                _ = try await fixture.queue("kit", 4)
                // then: the newest stay
                try await fixture.messages("the newest three") { $0.map(\.integration?.number) == [2, 3, 4] }
                // when: the eighth; messages older than the limit are removed, however few there are
                fixture.time.advance(by: limits.keptTime + .seconds(1))
                for number in 5...7 { _ = try await fixture.queue("kit", number) }
                try await fixture.messages("six") { $0.count == 6 && $0.allSatisfy { $0.state == .sent } }
                fixture.time.advance(by: limits.keptTime + .seconds(1))
                _ = try await fixture.queue("kit", 8)
                try await fixture.messages("one") { $0.map(\.integration?.number) == [8] }
            }
        }
    }

    @Test(
        .proves(
            .intake,
            "The result of a try is kept until it can be stored; ended rows are trimmed while running; messages for a failing destination are bounded by number and age"
        ))
    func testThatTheOldestAreGivenUpWhereTooManyWait() async throws {
        try await withOutbox { fixture in
            var limits = OutboxLimits()
            limits.waitingRows = 10
            for _ in 1...2 { fixture.sender.answer(Self.kit, with: .failed(OutboxFailure("connection refused"))) }
            for number in 1...12 {
                _ = try await fixture.queue("kit", number)
                fixture.time.advance(by: .seconds(1))
            }
            try await fixture.running(limits) {
                // when: the first try, long before its destination is given up for its age
                try await fixture.messages("the oldest two") {
                    $0.map(\.state) == Array(repeating: .givenUp, count: 2) + Array(repeating: .waiting, count: 10)
                }
                let notes = try await fixture.store.outbox().items.compactMap(\.note)
                #expect(
                    notes.contains {
                        $0.hasPrefix("given up: more than 10 messages waited for \(Self.kit)")
                            && $0.hasSuffix("the last: connection refused")
                    })
                // then: the others continue
                await fixture.pass(.seconds(5))
                try await fixture.messages("the rest's next try") { $0[2].tries + $0[3].tries >= 1 }
                await fixture.pass(.seconds(10))
                try await fixture.messages("the rest") { $0.suffix(10).allSatisfy { $0.state == .sent } }
            }
        }
    }

    /// Chat services receive the webhooks of many teams at one host.
    @Test(.proves(.intake, "One bot's slow webhook receiver holds up no other bot's at the same host"))
    func testThatOneBotsSlowReceiverHoldsUpNoOtherBotsAtTheSameHost() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let (time, sender) = (TestTime(), ScriptedSender(.webhook))
            let store = try Store.open(path: directory.path("martlet.sqlite"))
            let bots = try ["slow", "kit"].map { try #require(Name($0)) }
            try await store.register(
                bots.map {
                    BotSpecification(
                        name: $0, repository: "https://git.example/kit.git",
                        notices: [
                            Notice(
                                name: $0, when: [.broke],
                                target: .webhook(url: "https://chat.example/hook/\($0)", secret: "s"))
                        ])
                }, at: time.now)
            sender.silence(bot: bots[0])
            let outbox = Outbox(
                store: store, senders: [sender], clock: time.clock, timer: ManualClock(),
                logger: RecordingLogger().logger)
            let task = Task { await outbox.run() }
            // when: the slow one's is being sent before the other's is stored
            for (number, bot) in bots.enumerated() {
                let id = try await store.queue(
                    NewIntegration(
                        bot: bot, ref: RefName(branch: "main"),
                        commit: #require(CommitID(String(repeating: "1", count: 40))), cause: .person), at: time.now
                ).id
                try await store.apply(.completed(.buildErrors, triggerFailed: false), to: id, at: time.now)
                await until("the try") { sender.given.count == number + 1 }
            }
            // then
            _ = try await until("the other's end") {
                try await store.outbox().items.map(\.state) == [.sent, .sending]
            }
            #expect(Set(try await store.outbox().items.map(\.destination)) == ["https://chat.example"])
            task.cancel()
            await task.value
            try store.close()
        }
    }
}
