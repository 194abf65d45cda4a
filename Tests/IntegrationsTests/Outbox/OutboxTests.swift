import BotSupport
import Integrations
import Model
import Notifications
import Storage
import TestSupport
import Testing

/// Waiting messages are sent to their destinations.
@Suite struct OutboxTests {
    private static let kit = OutboxFixture.destination("kit")

    @Test func testThatWhatIsStoredIsSentOnce() async throws {
        try await withOutbox { fixture in
            _ = try await fixture.queue("kit", 1)
            try await fixture.running {
                // when: one from before the start, one from now
                _ = try await fixture.queue("kit", 2)
                try await fixture.messages("two that are sent") { $0.map(\.state) == [.sent, .sent] }
            }
            #expect(fixture.sender.given.map(\.integration?.number) == [1, 2])
            #expect(fixture.sender.given.allSatisfy { !$0.isUncertain })
        }
    }

    @Test(
        .proves(
            .intake,
            "Each change is sent once to a service that can tell; what was being sent when a daemon was killed is looked for there first"
        ))
    func testThatADaemonThatWasKilledWhileItSentIsFollowedByOneThatKnows() async throws {
        try await withOutbox { fixture in
            // given: a try with an unknown result
            _ = try await fixture.queue()
            let place = OutboxPlace(kind: .status, name: Self.kit, account: "token")
            _ = try await fixture.store.takeMessage(for: place, at: fixture.time.now, horizon: .seconds(60))
            // when
            try await fixture.running {
                try await fixture.messages("the message that is sent") { $0.map(\.state) == [.sent] }
            }
            // then
            #expect(fixture.sender.given.map(\.isUncertain) == [true])
            #expect(fixture.sender.given.map(\.tries) == [2])
        }
    }

    @Test(.proves(.intake, "A slow or silent destination holds up no other; drained after a restart; bounded rows"))
    func testThatADaemonThatStopsLeavesWhatItSendsForTheNext() async throws {
        try await withOutbox { fixture in
            fixture.sender.silence(Self.kit)
            _ = try await fixture.queue()
            try await fixture.running {
                await until("the try") { fixture.sender.given.count == 1 }
            }
            let left = try await fixture.store.outbox().items
            #expect(left.map(\.state) == [.sending])
        }
    }

    @Test(.proves(.intake, "A slow or silent destination holds up no other; drained after a restart; bounded rows"))
    func testThatASilentDestinationHoldsUpNobodyElse() async throws {
        let silent = (1...20).map { "silent\($0)" }
        try await withOutbox(silent + ["kit"]) { fixture in
            // given: more silent destinations than there are places for failing ones
            for bot in silent {
                fixture.sender.answer(
                    OutboxFixture.destination(bot), with: .failed(OutboxFailure("no answer", mayHaveArrived: true)))
                _ = try await fixture.queue(bot)
            }
            try await fixture.running {
                try await fixture.messages("all tried") { $0.allSatisfy { $0.tries == 1 && $0.state == .waiting } }
                for bot in silent { fixture.sender.silence(OutboxFixture.destination(bot)) }
                await fixture.pass(.seconds(5))
                await until("as many as may be") { fixture.sender.given.count == 20 + Outbox.maximumTroubled }
                // when
                let id = try await fixture.queue("kit")
                // then
                try await fixture.messages("the other's message") { messages in
                    messages.contains { $0.integration == id && $0.state == .sent }
                }
            }
            #expect(fixture.sender.given.count == 20 + Outbox.maximumTroubled + 1)
            #expect(fixture.sender.mostActive <= Outbox.maximumActive)
        }
    }

    @Suite struct WhenATryFails {
        @Test(
            .proves(
                .intake,
                "Messages are retried with backoff and jitter, and `Retry-After` is honored up to 6 h. A refused one is given up with its reason, others after a day and at least 5 failures"
            ))
        func testN6ThatItComesAgainAfterPausesThatGrow() async throws {
            try await withOutbox { fixture in
                let failure = OutboxOutcome.failed(OutboxFailure("connection refused"))
                fixture.sender.answer(kit, with: failure, failure, failure)
                _ = try await fixture.queue()
                var waits: [Duration] = []
                try await fixture.running {
                    for count in 1...3 {
                        try await fixture.messages("try \(count)") { $0[0].tries == count && $0[0].state == .waiting }
                        let message = try #require(try await fixture.store.outbox().items.first)
                        #expect(message.note == "connection refused")
                        waits.append(message.nextAt - fixture.time.now)
                        await fixture.pass(.seconds(10))
                    }
                    try await fixture.messages("the message that is sent") { $0[0].state == .sent }
                }
                // Each is between half and the whole of 2, 4 and 8 s, less the clock's advance.
                for (wait, most) in zip(waits, [2.0, 4, 8]) {
                    #expect(wait.seconds <= most && wait.seconds > most / 2 - 0.2, "\(wait)")
                }
            }
        }

        @Test func testN6ThatItsDestinationsPausesGrowWhateverElseWaits() async throws {
            try await withOutbox { fixture in
                // given: three failures in a row, each of another message
                let failure = OutboxOutcome.failed(OutboxFailure("connection refused"))
                fixture.sender.answer(kit, with: failure, failure, failure)
                for number in 1...6 { _ = try await fixture.queue("kit", number) }
                try await fixture.running {
                    for count in 1...3 {
                        try await fixture.messages("try \(count)") { messages in
                            messages.reduce(0) { $0 + $1.tries } == count
                                && messages.allSatisfy { $0.state == .waiting }
                        }
                        if count < 3 { await fixture.pass(.seconds(10)) }
                    }
                    #expect(fixture.sender.given.map(\.integration?.number) == [1, 2, 3])
                    // when: the third pause is of 4 to 8 s
                    await fixture.pass(.seconds(3))
                    await fixture.timer.awaitSleepers()
                    // then
                    #expect(fixture.sender.given.count == 3)
                    await fixture.pass(.seconds(10))
                    try await fixture.messages("all") { $0.allSatisfy { $0.state == .sent } }
                }
            }
        }

        @Test func testThatItsOtherMessagesWaitTooAndAreNotTriedOneByOne() async throws {
            try await withOutbox { fixture in
                fixture.sender.answer(kit, with: .failed(OutboxFailure("down")))
                for number in 1...5 { _ = try await fixture.queue("kit", number) }
                try await fixture.running {
                    try await fixture.messages("the first try") { $0[0].tries == 1 && $0[0].state == .waiting }
                    await fixture.timer.awaitSleepers()
                    #expect(fixture.sender.given.count == 1)
                    await fixture.pass(.seconds(3))
                    try await fixture.messages("all that are sent") { $0.allSatisfy { $0.state == .sent } }
                }
                // A failing message does not delay the others.
                #expect(fixture.sender.given.map(\.integration?.number) == [1, 2, 3, 4, 5, 1])
            }
        }

        @Test func testThatOneMessagesOwnFailureHoldsUpNoOther() async throws {
            try await withOutbox { fixture in
                fixture.sender.answer(kit, with: .failed(OutboxFailure("500", isOfDestination: false)))
                for number in 1...3 { _ = try await fixture.queue("kit", number) }
                try await fixture.running {
                    try await fixture.messages("the others") { $0.map(\.state) == [.waiting, .sent, .sent] }
                    await fixture.pass(.seconds(3))
                    try await fixture.messages("all") { $0.allSatisfy { $0.state == .sent } }
                }
            }
        }

        @Test(
            .proves(
                .intake,
                "Messages are retried with backoff and jitter, and `Retry-After` is honored up to 6 h. A refused one is given up with its reason, others after a day and at least 5 failures"
            ))
        func testThatAServiceIsLeftAloneForAsLongAsItSays() async throws {
            try await withOutbox { fixture in
                fixture.sender.answer(kit, with: .failed(OutboxFailure("429", retryAfter: .seconds(600))))
                _ = try await fixture.queue()
                try await fixture.running {
                    try await fixture.messages("the first try") { $0[0].tries == 1 && $0[0].state == .waiting }
                    // when: not long enough, and another message arrives
                    await fixture.pass(.seconds(590))
                    _ = try await fixture.queue("kit", 2)
                    await fixture.timer.awaitSleepers()
                    #expect(fixture.sender.given.count == 1)
                    // when
                    await fixture.pass(.seconds(20))
                    try await fixture.messages("both") { $0.allSatisfy { $0.state == .sent } }
                }
            }
        }

        @Test func testThatOneThatWasBrokenOffComesAgainAsUncertain() async throws {
            try await withOutbox { fixture in
                fixture.sender.answer(kit, with: .interrupted)
                _ = try await fixture.queue()
                try await fixture.running {
                    try await fixture.messages("the first try") { $0[0].tries == 1 && $0[0].state == .waiting }
                    await fixture.pass(.seconds(3))
                    try await fixture.messages("the next") { $0[0].state == .sent }
                }
                #expect(fixture.sender.given.map(\.isUncertain) == [false, true])
            }
        }

        @Test(
            .proves(
                .intake,
                "Messages are retried with backoff and jitter, and `Retry-After` is honored up to 6 h. A refused one is given up with its reason, others after a day and at least 5 failures"
            ))
        func testThatWhatIsRefusedForGoodIsGivenUpWithItsReason() async throws {
            try await withOutbox { fixture in
                fixture.sender.answer(kit, with: .refused("POST … answered 401"))
                _ = try await fixture.queue("kit", 1)
                _ = try await fixture.queue("kit", 2)
                try await fixture.running {
                    try await fixture.messages("the next") { $0.map(\.state) == [.givenUp, .sent] }
                }
                #expect(try await fixture.store.outbox().items.last?.note == "POST … answered 401")
            }
        }
    }
}
