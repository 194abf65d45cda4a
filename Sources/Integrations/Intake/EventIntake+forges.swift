import Archives
import Basics
package import Forges
import Model
import Settings
import Storage

extension EventIntake {
    /// Receives a webhook delivery; see `Operations.receive(_:)`.
    package func receive(_ delivery: ForgeDelivery) async throws(OperationError) -> PushAcceptance {
        guard delivery.body.count <= PushRequest.maximumBodyBytes else {
            throw OperationError(.tooLarge, "a delivery may have at most \(PushRequest.maximumBodyBytes) bytes")
        }
        let hooks = await registry.hooks(of: delivery.forge, bot: delivery.bot)
        let now = clock.now()
        let refusal = OperationError(
            .unauthenticated, "the signature is missing or wrong: \(delivery.forge.signatureRule)")
        // A delivery without a proof is refused before its body is hashed.
        guard let proof = WebhookProof(of: delivery) else {
            refusals.count()
            throw refusal
        }
        let secrets = registry.secrets
        let read = try await queue(for: delivery.body).run {
            () throws(OperationError) -> (bots: [BotSpecification], digest: String, event: ForgeEvent)? in
            try OperationError.forDelivery { () throws(ForgeError) in
                let bots = try Self.senders(of: delivery, proof, among: hooks, secrets, at: now)
                guard !bots.isEmpty else { return nil }
                return (bots, Digest.sha256(of: try delivery.body.bytes()), try ForgeEventReader.read(delivery))
            }
        }
        guard let read else {
            refusals.count()
            throw refusal
        }
        return try await accept(read.event, of: delivery, digest: read.digest, for: read.bots, at: now)
    }

    /// Returns the bots whose secret made the proof; empty if there is none. Secrets are compared by value: two bots may name the same secret, or two
    /// secrets with the same value.
    private static func senders(
        of delivery: ForgeDelivery, _ proof: WebhookProof, among hooks: [WebhookBots], _ secrets: SecretStore,
        at now: Timestamp
    ) throws(ForgeError) -> [BotSpecification] {
        var bots: [String: [BotSpecification]] = [:]
        for hook in hooks {
            // An unreadable secret counts as one that is not set; `martlet doctor` says why.
            guard let values = try? secrets.acceptedValues(hook.secret, at: now) else { continue }
            for value in values { bots[value, default: []] += hook.bots }
        }
        let message = try delivery.signed()
        // One proof is checked even without a secret, so that an unknown bot takes as long as a wrong signature.
        if bots.isEmpty { _ = try proof.holds(over: message, secret: "no bot's", at: now) }
        for (secret, senders) in bots where try proof.holds(over: message, secret: secret, at: now) { return senders }
        return []
    }

    private func accept(
        _ event: ForgeEvent, of delivery: ForgeDelivery, digest: String, for bots: [BotSpecification],
        at now: Timestamp
    ) async throws(OperationError) -> PushAcceptance {
        // A bot's own hook is for that bot, whatever repository the body names. A shared hook is for the bots whose configured repository the body
        // names.
        let named = delivery.bot == nil ? Self.choose(bots, event.repository) : bots
        let repositories = Set(named.map(\.repository)).sorted()
        // Claims about another repository's pull requests are dropped. If the bot's repository is a local path, the two cannot be compared.
        let isOther =
            named.allSatisfy { NamedRepository.key(of: $0.repository) != nil }
            && Self.choose(named, event.repository).isEmpty
        var new = NewEvent(
            repository: repositories.first, bot: named.count == 1 ? named.first?.name : nil, source: .webhook,
            hook: delivery.hook, deliveryID: delivery.id(digest: digest), bodyDigest: digest, event: event.word,
            receivedAt: now, claims: event.claims + (isOther ? [] : event.pullClaims), pull: isOther ? nil : event.pull,
            outcome: event.asksForScan ? .pending : .ignored, reason: event.reason)
        if named.isEmpty, event.asksForScan {
            (new.outcome, new.reason) = (
                .ignored, "no bot with this secret has the repository \(event.repository.description)"
            )
        }
        return try await accept(new, others: event.asksForScan ? Array(repositories.dropFirst()) : [])
    }

    /// Returns the bots whose repository has this address. If there is none, returns those with the same owner and name.
    static func choose(_ bots: [BotSpecification], _ repository: NamedRepository) -> [BotSpecification] {
        let byAddress = bots.filter { repository.isAt($0.repository) }
        return byAddress.isEmpty ? bots.filter { repository.hasPath(of: $0.repository) } : byAddress
    }
}
