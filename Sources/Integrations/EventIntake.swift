import Archives
import Basics
import Foundation
package import Logging
import Model
package import Storage

/// Takes events in: verified, stored, and only then accepted. What an event says is a hint to look, never the truth.
package struct EventIntake: Sendable {
    private let store: Store
    private let registry: BotRegistry
    private let clock: WallClock
    private let looks: Wakeup
    private let logger: Logger
    /// Bodies are decoded and digested here: 26 MiB take a second.
    private let lane = BlockingLane(label: "intake")

    /// - Parameter looks: Rung after an event is stored.
    package init(store: Store, registry: BotRegistry, clock: WallClock, looks: Wakeup, logger: Logger) {
        self.store = store
        self.registry = registry
        self.clock = clock
        self.looks = looks
        self.logger = logger
    }

    /// See `Operations.receive(_:)`.
    package func receive(_ push: PushRequest) async throws(OperationError) -> PushAcceptance {
        guard push.body.count <= PushRequest.maximumBodyBytes else {
            throw OperationError(.tooLarge, "a push may have at most \(PushRequest.maximumBodyBytes) bytes")
        }
        guard let bot = await registry.verifies(push) else {
            throw OperationError(
                .unauthenticated,
                "the signature is missing or wrong: X-Hub-Signature-256 must be sha256= and the HMAC-SHA256 of the body "
                    + "with the bot's webhook secret")
        }
        guard let delivery = push.delivery, !delivery.isEmpty, delivery.utf8.count <= PushRequest.maximumDeliveryBytes,
            delivery.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        else {
            throw OperationError(
                .invalid,
                "X-Martlet-Delivery must name the delivery in 1 to \(PushRequest.maximumDeliveryBytes) visible ASCII "
                    + "characters")
        }
        let (digest, claims) = try await lane.run { () throws(OperationError) in
            (Digest.sha256(of: push.body), try Self.claims(in: push.body))
        }
        let event = NewEvent(
            repository: bot.repository, bot: bot.name, source: .webhook, hook: "push/\(bot.name)", deliveryID: delivery,
            bodyDigest: digest, event: "push", receivedAt: clock.now(), claims: claims)
        let recorded: RecordedEvent
        do {
            recorded = try await store.record(event)
        } catch {
            logger.error(
                "an authentic push could not be stored", metadata: ["bot": "\(bot.name)", "error": "\(error)"])
            throw OperationError(.unavailable, "the push could not be stored; send it again", underlying: error)
        }
        looks.ring()
        switch recorded {
        case .stored(let record): return PushAcceptance(delivery: record.id, isDuplicate: false)
        case .duplicate(let record): return PushAcceptance(delivery: record.id, isDuplicate: true)
        case .conflict:
            logger.warning(
                "a delivery id came again with another body",
                metadata: ["bot": "\(bot.name)", "delivery": "\(delivery)"])
            throw OperationError(.conflict, "the delivery \(delivery) was received before with another body")
        }
    }

    private struct Body: Decodable {
        struct Update: Decodable {
            var ref: String
            var before: String
            var after: String
        }
        var updates: [Update]
    }

    private static func claims(in body: [UInt8]) throws(OperationError) -> [RefClaim] {
        let push: Body
        do {
            push = try JSONDecoder().decode(Body.self, from: Data(body))
        } catch {
            throw OperationError(
                .invalid, #"the body must be JSON of the form {"updates":[{"ref":…,"before":…,"after":…}]}"#,
                underlying: error)
        }
        guard push.updates.count <= PushRequest.maximumUpdates else {
            throw OperationError(.tooLarge, "a push may move at most \(PushRequest.maximumUpdates) refs")
        }
        var claims: [RefClaim] = []
        for update in push.updates {
            guard let before = CommitID(update.before), let after = CommitID(update.after),
                update.ref.hasPrefix("refs/"), update.ref.utf8.count <= NewEvent.maximumNameBytes
            else {
                throw OperationError(
                    .invalid,
                    "an update needs a full ref name and two full commit ids; this one has not: \(update.ref.prefix(200))"
                )
            }
            claims.append(RefClaim(ref: RefName(update.ref), before: before, after: after))
        }
        return claims
    }
}
