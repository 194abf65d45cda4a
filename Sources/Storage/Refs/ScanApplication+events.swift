import GRDB
import Model

extension ScanApplication {
    struct Decision {
        var outcome: EventOutcome
        var reason: String?
        var updates: [Int64] = []
    }

    /// Decides the outcome of every event received before this scan began, except for events that wait for another scan.
    mutating func decideEvents() throws {
        let rows = try db.rows(
            """
            SELECT id, claims, reason, pull_request, tries FROM deliveries
            WHERE repository = ? AND fate = 'pending' AND request <= ? ORDER BY id
            """,
            [repository, scan.request.sequence])
        // The head that the newest event names, for each pull request.
        var notified: [Int: CommitID] = [:]
        for row in rows {
            guard let number = try row["pull_request"] as Int? else { continue }
            notified[number] = try row.json("claims", as: [RefClaim].self)?.first?.after ?? notified[number]
        }
        let newest = try newestClaims(rows)
        for row in rows {
            let id: Int64 = try row["id"]
            let claims = try row.json("claims", as: [RefClaim].self) ?? []
            var decision: Decision
            if let number = try row["pull_request"] as Int? {
                if try mayComeYet(number, claims.first, newest: notified[number]) {
                    if try wait(for: number, claims.first, delivery: id, tries: try row["tries"]) { continue }
                }
                decision = try decide(pull: number, claims.first)
            } else {
                if try wait(for: claims, delivery: id, tries: row["tries"], newest) { continue }
                decision = try decide(claims, of: id, newest)
            }
            // The stored reason says why the event requested a scan, such as a pull request. The decision's reason says what the scan found.
            let reasons = [try row["reason"] as String?, decision.reason].compactMap(\.self)
            if !reasons.isEmpty { decision.reason = reasons.joined(separator: "; ") }
            try db.change(
                "UPDATE deliveries SET fate = ?, reason = ?, awaited = NULL WHERE id = ?",
                [decision.outcome.rawValue, decision.reason, id])
            let link = try db.cachedStatement(
                sql: "INSERT OR IGNORE INTO delivery_updates (delivery, ref_update) VALUES (?, ?)")
            for update in decision.updates { try link.execute(arguments: [id, update]) }
            transaction.changed(.delivery(rowID: id))
        }
    }

    /// Returns the refs that those events name; `nil` if one of them names none.
    func claimedRefs() throws -> Set<RefName>? {
        let rows = try db.rows(
            "SELECT claims FROM deliveries WHERE repository = ? AND fate = 'pending' AND request <= ?",
            [repository, scan.request.sequence])
        let claims = try rows.map { try $0.json("claims", as: [RefClaim].self) ?? [] }
        return claims.contains(where: \.isEmpty) ? nil : Set(claims.joined().map(\.ref))
    }

    /// Decides an event's outcome by its most important claim. Without claims, the most important movement that the scan saw decides.
    private func decide(
        _ claims: [RefClaim], of delivery: Int64, _ newest: [RefName: Int64]
    ) throws -> Decision {
        let decisions =
            claims.isEmpty
            ? movements.sorted { $0.key < $1.key }.map { Self.decision(of: $0.value) }
            : try claims.map { try decide($0, of: delivery, isNewest: newest[$0.ref] == delivery) }
        let weight: [EventOutcome] = [.integrated, .coalesced, .baseline, .duplicate, .superseded, .ignored]
        func rank(_ outcome: EventOutcome) -> Int { weight.firstIndex(of: outcome) ?? weight.count }
        guard var best = decisions.min(by: { rank($0.outcome) < rank($1.outcome) }) else {
            return Decision(outcome: .ignored, reason: "no ref had moved")
        }
        best.updates = decisions.flatMap(\.updates)
        return best
    }

    private func decide(pull number: Int, _ claim: RefClaim?) throws -> Decision {
        guard let pull = pulls[number] else {
            return Decision(outcome: .ignored, reason: try whyNotScanned(at: number))
        }
        let update = try pull.update ?? pull.ref.flatMap(newestUpdate)
        let decision = Decision(outcome: pull.outcome, reason: pull.reason, updates: update.map { [$0] } ?? [])
        guard let claimed = claim?.after, let head = pull.head, claimed != head, let ref = claim?.ref else {
            return decision
        }
        // Forges announce a head before they list it, and some servers return anybody's commit by its id.
        let reason = "the repository shows \(head.abbreviated) at \(ref), not \(claimed.abbreviated)"
        return Decision(
            outcome: pull.outcome == .integrated ? .coalesced : pull.outcome,
            reason: [reason, pull.reason].compactMap(\.self).joined(separator: "; "), updates: decision.updates)
    }

    private static func decision(of movement: Movement) -> Decision {
        Decision(outcome: movement.outcome, reason: movement.reason, updates: [movement.rowID])
    }

    private func decide(_ claim: RefClaim, of delivery: Int64, isNewest: Bool) throws -> Decision {
        if let movement = movements[claim.ref] {
            // For an annotated tag, a forge names the tag object, and a scan the commit.
            if movement.after == claim.after || claim.isHeadUnknown || claim.ref.tag != nil {
                return Self.decision(of: movement)
            }
            return Decision(
                outcome: .coalesced,
                reason: movement.after.map { "a newer head was found: \($0.abbreviated)" }
                    ?? "the ref was deleted since",
                updates: [movement.rowID])
        }
        let head = scan.heads[claim.ref]
        if claim.isHeadUnknown ? head != nil : head == claim.after || (head != nil && claim.ref.tag != nil) {
            let update = try current(claim.ref)?["id"] as Int64?
            // An earlier scan saw the ref move. This event has waited since then because of another of its refs.
            if let update, let found = try found(by: delivery, update) { return found }
            return update.map { Decision(outcome: .duplicate, reason: "this was known already", updates: [$0]) }
                ?? Decision(outcome: .ignored, reason: "the ref does not exist")
        }
        if claim.isHeadUnknown { return Decision(outcome: .ignored, reason: "the ref does not exist") }
        let earlier: Int64? = try db.value(
            "SELECT id FROM ref_updates WHERE repository = ? AND ref = ? AND after IS ? ORDER BY id DESC LIMIT 1",
            [repository, claim.ref.description, claim.after?.description])
        if let earlier {
            return Decision(outcome: .superseded, reason: "the ref has moved on since", updates: [earlier])
        }
        if try wasOvertaken(claim) || !isNewest {
            return Decision(outcome: .superseded, reason: "a later push of the ref was seen or told of")
        }
        return Decision(outcome: .ignored, reason: "the repository does not show this update")
    }

    /// Returns the outcome of an update that an earlier scan found for an event; `nil` if it found none.
    private func found(by delivery: Int64, _ update: Int64) throws -> Decision? {
        try db.first(
            """
            SELECT fate, reason FROM ref_updates JOIN delivery_updates ON ref_update = ref_updates.id
            WHERE delivery = ? AND ref_update = ?
            """, [delivery, update]
        ) { row in
            Decision(
                outcome: try row.value("fate") { EventOutcome(rawValue: $0) }, reason: try row["reason"] as String?,
                updates: [update])
        }
    }
}
