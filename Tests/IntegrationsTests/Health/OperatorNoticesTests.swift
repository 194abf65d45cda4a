import Basics
import BotSupport
import Model
import Settings
import Storage
import TestSupport
import Testing
import Transfer

@testable import Integrations
@testable import Notifications

@Suite struct OperatorNoticesTests {
    /// Records what is sent, and fails on demand.
    private final class Sent: ConditionSender {
        let channel: ConditionRecord.Channel
        let messages = Locked<[String]>([])
        let failure = Locked<String?>(nil)
        let wanted = Locked(true)

        init(_ channel: ConditionRecord.Channel = .mail) { self.channel = channel }

        var isWanted: Bool { wanted.value }

        func send(_ record: ConditionRecord) async -> String? {
            if let failure = failure.value { return failure }
            messages.withLock {
                $0.append("\(record.endedAt == nil ? "begins" : "over") \(record.condition.kind.rawValue)")
            }
            return nil
        }
    }

    private static let full = ServiceCondition(.disk, reason: "the disk is full", remedy: "free space", stopsWork: true)

    private struct Parts {
        let sent = Sent()
        let troubles = Locked<[ServiceCondition]>([])

        func notices(_ core: Core) -> OperatorNotices {
            OperatorNotices(
                store: core.store, senders: [sent], clock: core.time.clock, logger: core.log.logger, signal: Signal(),
                troubles: { [troubles] in troubles.value })
        }

        func set(_ conditions: [ServiceCondition]) { troubles.withLock { $0 = conditions } }
    }

    @Test(
        .proves(
            .operating,
            "The operator gets one message when a trouble begins, with its remedy, and one when it is over; a restart repeats nothing"
        ))
    func testThatATroubleHasOneMessageAtItsBeginAndOneAtItsEnd() async throws {
        try await withCore { core in
            // given
            let parts = Parts()
            var notices = parts.notices(core)
            // when
            parts.set([Self.full])
            for _ in 0..<3 { await notices.round() }
            // then
            #expect(parts.sent.messages.value == ["begins disk"])
            // when: the daemon starts again
            notices = parts.notices(core)
            await notices.round()
            #expect(parts.sent.messages.value == ["begins disk"])
            parts.set([])
            await notices.round()
            // then: it may come back
            #expect(parts.sent.messages.value == ["begins disk"])
            core.time.advance(by: OperatorNotices.settling)
            for _ in 0..<3 { await notices.round() }
            #expect(parts.sent.messages.value == ["begins disk", "over disk"])
            // when: it starts again
            await parts.notices(core).round()
            #expect(parts.sent.messages.value == ["begins disk", "over disk"])
        }
    }

    @Test func testThatATroubleThatComesAndGoesHasOneMessage() async throws {
        try await withCore { core in
            // given
            let parts = Parts()
            let notices = parts.notices(core)
            // when
            for number in 0..<10 {
                parts.set(number.isMultiple(of: 2) ? [Self.full] : [])
                await notices.round()
                core.time.advance(by: .seconds(10))
            }
            // then
            #expect(parts.sent.messages.value == ["begins disk"])
        }
    }

    @Test func testThatAFailureOfTheLauncherIsReportedAfterAMinuteOnly() async throws {
        try await withCore { core in
            // given
            let parts = Parts()
            let notices = parts.notices(core)
            parts.set([ServiceCondition(.launcher, reason: "no answer", remedy: "start it", stopsWork: true)])
            // when
            await notices.round()
            core.time.advance(by: .seconds(30))
            await notices.round()
            // then
            #expect(parts.sent.messages.value == [])
            core.time.advance(by: .seconds(30))
            await notices.round()
            #expect(parts.sent.messages.value == ["begins launcher"])
        }
    }

    @Test(.proves(.operating, "While the database cannot be written, the operator is told all the same, once"))
    func testThatItIsSentAlthoughNothingCanBeStored() async throws {
        try await withCore { core in
            // given
            let parts = Parts()
            let notices = parts.notices(core)
            await notices.round()
            try await core.sql(
                "CREATE TRIGGER broken BEFORE INSERT ON conditions BEGIN SELECT RAISE(ABORT, 'full'); END")
            // when
            parts.set([Self.full])
            for _ in 0..<3 { await notices.round() }
            // then
            #expect(parts.sent.messages.value == ["begins disk"])
            // when: it can be stored again
            try await core.sql("DROP TRIGGER broken")
            await notices.round()
            await parts.notices(core).round()
            // then
            #expect(parts.sent.messages.value == ["begins disk"])
            let stored = try #require(try await core.store.conditions(at: core.time.now).first)
            #expect(stored.told[.mail]?.begin != nil)
        }
    }

    @Test func testThatAFailedMessageIsSentAgainAfterAPause() async throws {
        try await withCore { core in
            // given
            let parts = Parts()
            let notices = parts.notices(core)
            parts.sent.failure.withLock { $0 = "refused" }
            parts.set([Self.full])
            await notices.round()
            parts.sent.failure.withLock { $0 = nil }
            // when
            await notices.round()
            #expect(parts.sent.messages.value == [], "it pauses")
            core.time.advance(by: OperatorNotices.firstPause)
            await notices.round()
            // then
            #expect(parts.sent.messages.value == ["begins disk"])
            #expect(core.log.lines.contains { $0.message == "the operator could not be told of a trouble" })
        }
    }

    @Test func testThatNobodyHearsOfTheEndOfWhatBeganBeforeTheyWereNamed() async throws {
        try await withCore { core in
            // given
            let parts = Parts()
            let notices = parts.notices(core)
            parts.sent.wanted.withLock { $0 = false }
            parts.set([Self.full])
            await notices.round()
            parts.set([])
            core.time.advance(by: OperatorNotices.settling)
            // when
            await notices.round()
            parts.sent.wanted.withLock { $0 = true }
            await notices.round()
            // then
            #expect(parts.sent.messages.value == [])
        }
    }

    @Test(
        .proves(.operating, "`operator` in the settings names mail addresses and a webhook, which gets signed requests")
    )
    func testThatTheWebhookIsSignedAndTheMailHasTheRemedy() async throws {
        try await withCore { core in
            // given
            let transport = FakeTransport()
            transport.serve("https://hooks.example/")
            transport.serve("smtps://mail.example")
            try core.secrets.set("ops", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
            let place = OperatorPlace(
                OperatorSettings(
                    mail: [try #require(MailAddress("ops@acme.example"))], webhook: "https://hooks.example/1",
                    secret: "ops"))
            let record = ConditionRecord(Self.full, begunAt: core.time.now)
            // when
            let webhook = ConditionWebhookSender(
                place: place, secrets: core.secrets, transport: transport, clock: core.time.clock,
                url: "https://ci.example")
            _ = await webhook.send(record)
            let mail = ConditionMailSender(
                place: place,
                mail: MailSettings(
                    server: "smtps://mail.example", from: try #require(MailAddress("ci@acme.example"))),
                secrets: core.secrets, transport: transport, url: "https://ci.example")
            _ = await mail.send(record)
            // then
            let requests = transport.takeRequests()
            #expect(requests.map(\.method) == [.post, .mail])
            #expect(requests[0].headers["webhook-signature"]?.hasPrefix("v1,") == true)
            let body = String(decoding: requests[0].body, as: UTF8.self)
            expectContains(body, #""type":"condition.begun""#)
            expectContains(body, #""remedy":"free space""#)
            let text = String(decoding: requests[1].body, as: UTF8.self)
            expectContains(text, "Subject: [martlet] trouble: the disk has too little room")
            expectContains(text, "What to do: free space")
            #expect(requests[1].envelope == MailEnvelope(from: "ci@acme.example", to: "ops@acme.example"))
        }
    }
}
