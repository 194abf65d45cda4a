import Basics
import BotSupport
import Forges
import Integrations
import Model
import Storage
import TestSupport
import Testing

@Suite struct EventIntakeTests {
    private func intake(_ core: Core, _ scans: Signal = Signal()) -> EventIntake {
        EventIntake(
            store: core.store, registry: core.registry, clock: core.time.clock, scans: scans, logger: core.log.logger)
    }

    private static let update =
        #"{"updates":[{"ref":"refs/heads/main","before":"0000000000000000000000000000000000000000","after":"1111111111111111111111111111111111111111"}]}"#

    @Test(.proves(.intake, "Signed `POST /webhooks/push/{bot}`, stored before it is accepted"))
    func testThatAPushIsStoredBeforeItIsAccepted() async throws {
        try await withCore { core in
            // given
            let before = try #require(try await core.sequence())

            // when
            let accepted = try await intake(core).receive(try core.push(Self.update, delivery: "d-1"))

            // then
            #expect(accepted.delivery == "d-1")
            #expect(!accepted.isDuplicate)
            let stored = try #require(try await core.store.deliveries().items.first)
            #expect(stored.outcome == .pending)
            #expect(stored.claims.map(\.ref.description) == ["refs/heads/main"])
            #expect(try await core.sequence() == before + 1)
        }
    }

    @Test(.proves(.intake, "Signed `POST /webhooks/push/{bot}`, stored before it is accepted"))
    func testThatTheSameDeliveryAgainIsADuplicate() async throws {
        try await withCore { core in
            // given
            let intake = intake(core)
            _ = try await intake.receive(try core.push(Self.update, delivery: "d-1"))
            let before = try await core.sequence()

            // when
            let again = try await intake.receive(try core.push(Self.update, delivery: "d-1"))

            // then
            #expect(again.isDuplicate)
            #expect(try await core.store.deliveries().items.count == 1)
            #expect(try await core.sequence() == before)
        }
    }

    @Test func testThatOneDeliveryWithAnotherBodyIsAConflict() async throws {
        try await withCore { core in
            // given
            let intake = intake(core)
            _ = try await intake.receive(try core.push(Self.update, delivery: "d-1"))

            // when
            let error = await expectRejection(OperationError.self, \.code, .conflict) {
                try await intake.receive(try core.push(delivery: "d-1"))
            }

            // then
            expectContains(error?.message ?? "", "d-1")
            #expect(try await core.store.deliveries().items.count == 1)
        }
    }

    @Test(.proves(.badInput, "A wrong or missing signature is refused"))
    func testThatAWrongSignatureLeavesNoRow() async throws {
        try await withCore { core in
            // given
            let push = try core.push(secret: "another")

            // when
            await expectRejection(OperationError.self, \.code, .unauthenticated) {
                try await intake(core).receive(push)
            }

            // then
            #expect(try await core.store.deliveries().items.isEmpty)
        }
    }

    @Test(arguments: [
        "", "{", "[]", "{}", #"{"updates":{}}"#, #"{"updates":[{}]}"#, "null", "\u{0}",
        #"{"updates":[{"ref":"main","before":"0000000000000000000000000000000000000000","after":"1111111111111111111111111111111111111111"}]}"#,
        #"{"updates":[{"ref":"refs/heads/main","before":"0","after":"1"}]}"#,
        #"{"updates":[{"ref":"refs/heads/main","before":"HEAD","after":"1111111111111111111111111111111111111111"}]}"#,
        #"{"updates":[{"ref":1,"before":"0000000000000000000000000000000000000000","after":"1111111111111111111111111111111111111111"}]}"#,
        #"{"updates":[{"ref":"refs/heads/main","before":"000000000000000000000000000000000000000G","after":"1111111111111111111111111111111111111111"}]}"#,
    ])
    func testThatAMalformedBodyIsRefusedAndNotStored(body: String) async throws {
        try await withCore { core in
            // given
            let push = try core.push(body)

            // when
            await expectRejection(OperationError.self, \.code, .invalid) { try await intake(core).receive(push) }

            // then
            #expect(try await core.store.deliveries().items.isEmpty)
        }
    }

    @Test(arguments: [
        nil, "", " ", "a b", "a\n", "\u{7F}", "é", String(repeating: "a", count: NewEvent.maximumDeliveryBytes + 1),
    ])
    func testThatADeliveryNeedsAName(delivery: String?) async throws {
        try await withCore { core in
            let push = try core.push(delivery: delivery)
            await expectRejection(OperationError.self, \.code, .invalid) { try await intake(core).receive(push) }
        }
    }

    @Test func testThatTheLongestDeliveryNameIsTaken() async throws {
        try await withCore { core in
            let name = String(repeating: "a", count: NewEvent.maximumDeliveryBytes)
            let accepted = try await intake(core).receive(try core.push(delivery: name))
            #expect(accepted.delivery == name)
        }
    }

    @Test func testThatTooManyUpdatesAreRefused() async throws {
        try await withCore { core in
            // given
            let zero = String(repeating: "0", count: 40)
            func body(_ count: Int) -> String {
                let updates = (0..<count).map { #"{"ref":"refs/heads/\#($0)","before":"\#(zero)","after":"\#(zero)"}"# }
                return #"{"updates":[\#(updates.joined(separator: ","))]}"#
            }

            // when, then
            let push = try core.push(body(PushRequest.maximumUpdates + 1))
            await expectRejection(OperationError.self, \.code, .tooLarge) { try await intake(core).receive(push) }
            _ = try await intake(core).receive(try core.push(body(PushRequest.maximumUpdates), delivery: "2"))
            #expect(try await core.store.deliveries().items.first?.claims.count == PushRequest.maximumUpdates)
        }
    }

    @Test func testThatATooLargeBodyIsRefusedUnread() async throws {
        try await withCore { core in
            // given
            let push = PushRequest(
                bot: try Samples.name("kit"), signature: nil, delivery: "1",
                body: WebhookBody([UInt8](repeating: 0x20, count: PushRequest.maximumBodyBytes + 1)))

            // when, then
            await expectRejection(OperationError.self, \.code, .tooLarge) { try await intake(core).receive(push) }
        }
    }

    @Test func testThatWhatCannotBeStoredIsNotAccepted() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let core = try await Core(directory, bots: ["kit": Core.kit], log: RecordingLogger())
            core.log.expectErrors(containing: "an authentic push could not be stored")
            try core.store.close()
            let push = try core.push()

            // when
            let error = await expectRejection(OperationError.self, \.code, .unavailable) {
                try await intake(core).receive(push)
            }

            // then
            expectContains(error?.message ?? "", "send it again")
        }
    }
}
