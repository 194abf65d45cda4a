import Model
import TestSupport
import Testing

@testable import Storage

/// The messages to others, stored with their causes.
@Suite struct StoreOutboxTests {
    static let target = StatusTarget(
        forge: .github, credentials: "kit-status", api: "https://api.github.com", project: "acme/kit")
    static let place = OutboxPlace(kind: .status, name: target.api, account: target.credentials)

    /// Runs a test with a store whose bot `kit` reports to GitHub.
    private static func withReports(_ body: (StoreFixture) async throws -> Void) async throws {
        try await withStore { fixture in
            try await fixture.store.register(
                [BotSpecification(name: name("kit"), repository: StoreFixture.repository, status: target)], at: time(1))
            try await body(fixture)
        }
    }

    private static func take(_ fixture: StoreFixture, at seconds: Int64 = 1000) async throws -> OutboxMessage? {
        try await fixture.store.takeMessage(for: place, at: time(seconds), horizon: .seconds(3600))
    }

    /// Returns the messages, oldest first.
    private static func messages(_ fixture: StoreFixture) async throws -> [OutboxMessage] {
        try await fixture.store.outbox(limit: 200).items.reversed()
    }

    @Test func testThatABotThatTellsNobodyHasNoMessages() async throws {
        try await withStore { fixture in
            _ = try await fixture.queue()
            #expect(try await fixture.store.outbox().items.isEmpty)
        }
    }

    @Test(.proves(.intake, "One outbox: what is to be told is stored in the transaction of the change that causes it"))
    func testThatEachMomentIsStoredWithTheChangeThatIsIt() async throws {
        try await Self.withReports { fixture in
            // when
            let id = try await fixture.queue().id
            #expect(try await Self.messages(fixture).map(\.content.moment) == [.queued])
            try await fixture.store.apply(.started, to: id, at: time(20))
            let attempt = try await fixture.store.addAttempt(to: id, job: name("debug"), at: time(21)).id
            try await fixture.store.apply(.entered(.checkout), to: attempt, at: time(22))
            try await fixture.store.apply(.entered(.building), to: attempt, at: time(23))
            try await fixture.store.apply(.processed(.testFailures), to: attempt, at: time(24), reason: "no")
            try await fixture.store.apply(
                .completed(.testFailures, triggerFailed: false), to: id, at: time(25), reason: "no")

            // then: the steps of a job are not reported
            let messages = try await Self.messages(fixture)
            #expect(messages.map(\.content.moment) == [.queued, .started, .jobs, .jobs, .jobs, .completed])
            #expect(messages.map(\.job?.description) == [nil, nil, "debug", "debug", "debug", nil])
            #expect(messages.map(\.content.hasBegun) == [false, false, false, true, true, false])
            #expect(messages.map(\.content.verdict) == [nil, nil, nil, nil, .testFailures, .testFailures])
            #expect(messages.allSatisfy { $0.integration == id && $0.destination == Self.target.api })
            // An unsent message gives way to the newer one of its subject.
            #expect(
                messages.map(\.state) == [.superseded, .superseded, .superseded, .superseded, .waiting, .waiting])
            #expect(Set(messages.map(\.subject)).count == 2)
        }
    }

    @Test(.proves(.intake, "One outbox: what is to be told is stored in the transaction of the change that causes it"))
    func testThatAChangeThatIsNotStoredLeavesNoMessage() async throws {
        try await Self.withReports { fixture in
            let id = try await fixture.queue().id
            await expectFailure(.illegalTransition) {
                try await fixture.store.apply(.entered(.running), to: id, at: time(20))
            }
            await expectFailure(.illegalTransition) {
                try await fixture.store.writer.write("both") { transaction in
                    let record = try Store.integration(id, transaction.db)
                    _ = try Store.apply(.started, to: record, at: time(20), reason: nil, transaction)
                    throw IllegalTransition(state: "a", event: "b")
                }
            }
            #expect(try await Self.messages(fixture).map(\.content.moment) == [.queued])
        }
    }

    @Test func testThatJobsThatNeverBeganAreToldAsCanceled() async throws {
        try await Self.withReports { fixture in
            let id = try await fixture.queue().id
            try await fixture.store.apply(.started, to: id, at: time(20))
            _ = try await fixture.store.addAttempt(to: id, job: name("debug"), at: time(21))
            try await fixture.store.apply(
                .completed(.canceled, triggerFailed: false), to: id, at: time(22), reason: "ann wanted it")
            let last = try await Self.messages(fixture).suffix(2)
            #expect(last.map(\.job?.description) == ["debug", nil])
            #expect(last.map(\.content.verdict) == [.canceled, .canceled])
            #expect(last.map(\.content.reason) == ["ann wanted it", "ann wanted it"])
        }
    }

    @Test(arguments: [Cause.schedule, .upgrade, .person])
    func testThatOneThatIsCanceledLeavesACommitsStatusAsItWas(cause: Cause) async throws {
        try await Self.withReports { fixture in
            // given: a commit that was judged
            let judged = try await fixture.queue().id
            try await fixture.store.apply(.started, to: judged, at: time(20))
            let attempt = try await fixture.store.addAttempt(to: judged, job: name("debug"), at: time(21)).id
            for event in [AttemptState.Event.entered(.checkout), .processed(.testFailures)] {
                try await fixture.store.apply(event, to: attempt, at: time(22))
            }
            try await fixture.store.apply(.completed(.testFailures, triggerFailed: false), to: judged, at: time(23))
            // when
            let again = try await fixture.store.queue(
                NewIntegration(bot: name("kit"), ref: .main, commit: commit(1), cause: cause), at: time(24)
            ).id
            try await fixture.store.apply(
                .completed(.canceled, triggerFailed: false), to: again, at: time(25), reason: "ann wanted it")
            // then
            let waiting = try await Self.messages(fixture).filter { $0.state == .waiting }
            #expect(waiting.map(\.job?.description) == ["debug", nil])
            #expect(waiting.map(\.content.verdict) == [.testFailures, .testFailures])
            #expect(waiting.map(\.integration) == [judged, judged])
        }
    }

    @Test func testThatASupersededIntegrationSaysByWhat() async throws {
        try await Self.withReports { fixture in
            let watcher = try fixture.watcher(supersede: .queued)
            try await fixture.scan([.main: commit(1)], watchers: [watcher])
            try await fixture.scan([.main: commit(2)], watchers: [watcher])
            let first = try await Self.messages(fixture).last { $0.integration?.number == 1 }
            #expect(first?.content.verdict == .canceled)
            #expect(first?.content.reason == "superseded by kit#2, a newer commit of main")
        }
    }

    @Test(.proves(.intake, "One outbox: what is to be told is stored in the transaction of the change that causes it"))
    func testThatARerunIsPendingAgainAndOneTakenBackShowsWhatWas() async throws {
        try await Self.withReports { fixture in
            // given
            let id = try await fixture.queue().id
            try await fixture.store.apply(.started, to: id, at: time(20))
            let attempt = try await fixture.store.addAttempt(to: id, job: name("debug"), at: time(21)).id
            try await fixture.store.apply(.processed(.buildErrors), to: attempt, at: time(22))
            try await fixture.store.apply(.completed(.buildErrors, triggerFailed: false), to: id, at: time(23))
            // when
            _ = try await fixture.store.reopen(
                id, for: NewRerun(requestedBy: "ann", jobs: [name("debug")]), at: time(30))
            // then
            let queued = try await Self.messages(fixture).suffix(2)
            #expect(queued.map(\.content.run) == [2, 2])
            #expect(queued.map(\.content.verdict) == [nil, nil])
            // when
            _ = try await fixture.store.takeBackRerun(of: id, at: time(40))
            // then
            let back = try await Self.messages(fixture).suffix(2)
            #expect(back.map(\.content.verdict) == [.buildErrors, .buildErrors])
            #expect(back.map(\.createdAt) == [time(40), time(40)])
        }
    }

    @Suite struct WhenMessagesAreTaken {
        @Test func testThatTheOldestGoesFirstAndIsStoredAsBeingSent() async throws {
            try await withReports { fixture in
                _ = try await fixture.queue(1)
                _ = try await fixture.queue(2)
                let message = try #require(try await take(fixture))
                #expect(message.integration?.number == 1)
                #expect(try await messages(fixture).map(\.state) == [.sending, .waiting])
                #expect(try await messages(fixture).map(\.tries) == [1, 0])
            }
        }

        @Test(
            .proves(
                .intake, "Pending before final; newer ones supersede older ones of the same subject that were not sent")
        )
        func testThatANewerOneOfTheSubjectWaitsForTheOneUnderWay() async throws {
            try await withReports { fixture in
                let id = try await fixture.queue().id
                let first = try #require(try await take(fixture))
                try await fixture.store.apply(.started, to: id, at: time(20))
                // when: the first is being sent
                #expect(try await take(fixture) == nil)
                #expect(try await fixture.store.outboxPlaces().isEmpty)
                try await fixture.store.settle(first, as: .sent(note: nil), at: time(21))
                // then
                #expect(try await take(fixture)?.content.moment == .started)
            }
        }

        @Test(
            .proves(
                .intake, "Pending before final; newer ones supersede older ones of the same subject that were not sent")
        )
        func testThatOneThatFailedGivesWayToANewer() async throws {
            try await withReports { fixture in
                let id = try await fixture.queue().id
                let first = try #require(try await take(fixture))
                try await fixture.store.apply(.started, to: id, at: time(20))
                try await fixture.store.settle(
                    first, as: .again(at: time(30), reason: "no answer", isUncertain: true), at: time(21))
                let stored = try await messages(fixture)
                #expect(stored.map(\.state) == [.superseded, .waiting])
                #expect(stored[0].note == "no answer")
            }
        }

        @Test func testThatItComesAgainWhenItIsDueAndAlsoWhenTheClockWentBack() async throws {
            try await withReports { fixture in
                _ = try await fixture.queue()
                let first = try #require(try await take(fixture, at: 100))
                try await fixture.store.settle(
                    first, as: .again(at: time(130), reason: "no answer", isUncertain: true), at: time(101))
                #expect(try await take(fixture, at: 129) == nil)
                #expect(try await fixture.store.outboxPlaces() == [place: time(130)])
                let again = try #require(try await take(fixture, at: 130))
                #expect(again.isUncertain && again.tries == 2)
                try await fixture.store.settle(
                    again, as: .again(at: time(10_000), reason: "no answer", isUncertain: false), at: time(131))
                #expect(try await take(fixture, at: 132) != nil)
            }
        }

        @Test func testThatWhatWasBeingSentIsTakenUpAsUncertain() async throws {
            try await withReports { fixture in
                _ = try await fixture.queue()
                _ = try await take(fixture)
                // when: the daemon was killed
                #expect(try await fixture.store.recoverOutbox(at: time(50)) == 1)
                // then
                let again = try #require(try await take(fixture))
                #expect(again.isUncertain && again.tries == 2)
            }
        }
    }

    @Test(
        .proves(
            .intake,
            "The outbox on the page `/outbox`, in the interface, in the metrics and by `martlet outbox`; an operator has what was given up tried again"
        ))
    func testThatAPersonHasOnlyTheNewestOfWhatWasGivenUpTriedAgain() async throws {
        try await Self.withReports { fixture in
            // given
            let id = try await fixture.queue().id
            let first = try #require(try await Self.take(fixture))
            try await fixture.store.settle(first, as: .givenUp(reason: "401"), at: time(20))
            // when
            let retried = try await fixture.store.retryMessage(first.id, at: time(30))
            #expect(retried.state == .waiting)
            await expectFailure(.illegalTransition) { try await fixture.store.retryMessage(first.id, at: time(31)) }
            let again = try #require(try await Self.take(fixture))
            try await fixture.store.settle(again, as: .givenUp(reason: "401"), at: time(32))
            try await fixture.store.apply(.started, to: id, at: time(33))
            // then: there is a newer message
            await expectFailure(.illegalTransition, "newer") {
                try await fixture.store.retryMessage(first.id, at: time(34))
            }
            await expectFailure(.notFound) { try await fixture.store.retryMessage(999, at: time(35)) }
        }
    }

    @Test(
        .proves(
            .intake,
            "The outbox on the page `/outbox`, in the interface, in the metrics and by `martlet outbox`; an operator has what was given up tried again"
        ))
    func testThatWhatTellsOfARemovedIntegrationIsNotTriedAgain() async throws {
        try await Self.withReports { fixture in
            // given: all messages of the first were given up, and retention may remove it
            func done() async throws -> IntegrationID {
                let id = try await fixture.queue().id
                try await fixture.store.apply(.started, to: id, at: time(20))
                try await fixture.store.apply(
                    .completed(.succeeded, triggerFailed: false), to: id, at: time(30))
                return id
            }
            let id = try await done()
            var last: OutboxMessage?
            while let message = try await Self.take(fixture) {
                try await fixture.store.settle(message, as: .givenUp(reason: "401"), at: time(40))
                last = message
            }
            let message = try #require(last)
            #expect(message.integration == id)
            _ = try await done()
            let row = try #require(
                try await fixture.store.retentionRows(of: name("kit")).first { $0.id == id })
            #expect(
                try await fixture.store.remove([(row, "over the limit")], of: name("kit"), at: time(500))
                    == [id])

            // when, then: while it is only hidden
            await expectFailure(.notFound, "tells of kit#1, which was removed") {
                try await fixture.store.retryMessage(message.id, at: time(501))
            }
            let stored = try await Self.messages(fixture).first { $0.id == message.id }
            #expect(stored?.state == .givenUp)
        }
    }

    @Test(.proves(.intake, "A slow or silent destination holds up no other; drained after a restart; bounded rows"))
    func testThatOldRowsAreRemovedAndOpenOnesStay() async throws {
        try await Self.withReports { fixture in
            // given: three that are sent, and one that waits and is the oldest
            for number in 1...4 { _ = try await fixture.queue(number) }
            for _ in 1...4 {
                let message = try #require(try await Self.take(fixture))
                let isFirst = message.integration?.number == 1
                try await fixture.store.settle(
                    message,
                    as: isFirst ? .again(at: time(4000), reason: "", isUncertain: false) : .sent(note: nil),
                    at: time(message.integration?.number == 2 ? 20 : 100))
            }
            // when: by age
            try await fixture.store.trimOutbox(keeping: 100, endedAfter: time(50))
            #expect(try await Self.messages(fixture).map(\.integration?.number) == [1, 3, 4])
            // when: by number
            try await fixture.store.trimOutbox(keeping: 1, endedAfter: time(50))
            #expect(try await Self.messages(fixture).map(\.integration?.number) == [1, 4])
            #expect(try await fixture.store.outboxCounts() == [.waiting: 1, .sent: 1])
        }
    }
}
