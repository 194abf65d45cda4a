import Archives
package import Basics
package import Forges
import Foundation
package import Logging
import Model
package import Storage
import Synchronization

/// Receives events: each is verified, stored, and only then accepted. The contents of an event are a hint to scan the repository, never the truth.
package struct EventIntake: Sendable {
    let store: Store
    let registry: BotRegistry
    let clock: WallClock
    private let scans: Signal
    let logger: Logger
    /// The queue on which bodies are decoded and digested.
    private let queue = SerialQueue(label: "intake")
    /// The queue for large bodies, so that others do not wait for them. A body of 26 MiB takes a second.
    private let slowQueue = SerialQueue(label: "intake of large bodies")
    let refusals = RefusalCounter()

    /// - Parameter scans: Notified after an event is stored.
    package init(store: Store, registry: BotRegistry, clock: WallClock, scans: Signal, logger: Logger) {
        self.store = store
        self.registry = registry
        self.clock = clock
        self.scans = scans
        self.logger = logger
    }

    /// Receives a push of a git server's hook; see `Operations.receive(_:)`.
    package func receive(_ push: PushRequest) async throws(OperationError) -> PushAcceptance {
        guard push.body.count <= PushRequest.maximumBodyBytes else {
            throw OperationError(.tooLarge, "a push may have at most \(PushRequest.maximumBodyBytes) bytes")
        }
        guard let bot = try await registry.verifies(push, at: clock.now(), on: queue(for: push.body)) else {
            refusals.count()
            throw OperationError(
                .unauthenticated,
                "the signature is missing or wrong: X-Hub-Signature-256 must be sha256= and the HMAC-SHA256 of the body "
                    + "with the bot's webhook secret")
        }
        guard let delivery = push.delivery, NewEvent.isDeliveryID(delivery) else {
            throw OperationError(
                .invalid,
                "X-Martlet-Delivery must name the delivery in 1 to \(NewEvent.maximumDeliveryBytes) visible ASCII "
                    + "characters")
        }
        let (digest, claims) = try await queue(for: push.body).run { () throws(OperationError) in
            let body = try OperationError.forDelivery(push.body.bytes)
            return (Digest.sha256(of: body), try Self.claims(in: body))
        }
        let event = NewEvent(
            repository: bot.repository, bot: bot.name, source: .webhook, hook: "push/\(bot.name)", deliveryID: delivery,
            bodyDigest: digest, event: "push", receivedAt: clock.now(), claims: claims)
        return try await accept(event)
    }

    /// The size in bytes up to which a body never waits for larger ones.
    private static let usualBytes = 256 << 10

    func queue(for body: WebhookBody) -> SerialQueue { body.count <= Self.usualBytes ? queue : slowQueue }

    /// Stores an event, and notifies the scans if it asks for one.
    /// - Parameter others: Further repositories to scan, beside the event's own.
    func accept(_ event: NewEvent, others: [String] = []) async throws(OperationError) -> PushAcceptance {
        let recorded: RecordedEvent
        do {
            // A needless scan does no harm; a missing one would.
            for repository in others { try await store.requestScan(at: repository, telling: event) }
            recorded = try await store.record(event)
        } catch {
            logger.error(
                "an authentic push could not be stored", metadata: ["hook": "\(event.hook)", "error": "\(error)"])
            throw OperationError(.unavailable, "the push could not be stored; send it again", underlying: error)
        }
        if event.outcome == .pending { scans.notify() }
        switch recorded {
        case .stored(let record): return PushAcceptance(record, isDuplicate: false)
        case .duplicate(let record): return PushAcceptance(record, isDuplicate: true)
        case .conflict:
            let delivery = event.deliveryID ?? ""
            logger.warning(
                "a delivery id was repeated with another body",
                metadata: ["hook": "\(event.hook)", "delivery": "\(delivery)"])
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
                    "an update needs a full ref name and two full commit ids; this one does not: \(update.ref.prefix(200))"
                )
            }
            claims.append(RefClaim(ref: RefName(update.ref), before: before, after: after))
        }
        return claims
    }
}

/// The receipt of an authentic delivery, which is stored when this is returned.
package struct PushAcceptance: Sendable {
    /// The delivery's id in `/deliveries`.
    package let delivery: String
    /// Whether the same delivery was stored before.
    package let isDuplicate: Bool
    /// The reason why the delivery has no effect; `nil` if a scan decides on it.
    package let ignored: String?

    package init(_ record: DeliveryRecord, isDuplicate: Bool) {
        delivery = record.id
        self.isDuplicate = isDuplicate
        ignored = record.outcome == .ignored ? record.reason : nil
    }
}

/// Counts the deliveries that were refused for their signature. The count is the only record of such deliveries, because anyone could otherwise
/// create rows without limit.
package final class RefusalCounter: Sendable {
    private let value = Atomic<Int>(0)

    /// The number since the daemon's start.
    package var total: Int { value.load(ordering: .relaxed) }

    func count() { value.wrappingAdd(1, ordering: .relaxed) }
}
