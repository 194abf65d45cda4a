import GRDB
import Model

/// Lets events wait for heads that a forge announces before its repository lists them, and explains why a pull request was not scanned.
extension ScanApplication {
    /// The most events of one scan that may wait for the next.
    private static let maximumAwaited = 100

    /// Returns whether the announced head of a pull request may still appear in the repository.
    /// - Parameter newest: The head that the newest of the waiting events announces.
    func mayComeYet(_ number: Int, _ claim: RefClaim?, newest: CommitID?) throws -> Bool {
        guard let pull = pulls[number], let claim, let claimed = claim.after, pull.head != claimed,
            newest == claimed
        else { return false }
        // The head existed earlier: the event of a forced push can arrive late.
        return try db.first(
            "SELECT 1 FROM ref_updates WHERE repository = ? AND ref = ? AND after = ?",
            [repository, claim.ref.description, claimed.description]
        ) { _ in true } == nil
    }

    /// Lets an event wait for another scan, which is requested after a pause.
    /// - Returns: Whether it waits; `false` if it has waited long enough.
    mutating func wait(for number: Int, _ claim: RefClaim?, delivery: Int64, tries: Int) throws -> Bool {
        guard tries < Store.pausesForHead.count, awaited.count < Self.maximumAwaited, let claim,
            let claimed = claim.after
        else { return false }
        let pause = Store.pausesForHead[tries]
        let seen = pulls[number]?.head.map { "shows \($0.abbreviated) at \(claim.ref)" } ?? "does not list \(claim.ref)"
        try park(delivery, tries: tries, pause, "the repository \(seen), not \(claimed.abbreviated) yet")
        return true
    }

    private mutating func park(_ delivery: Int64, tries: Int, _ pause: Duration, _ why: String) throws {
        let reason =
            "\(why): scan \(tries + 2) of \(Store.pausesForHead.count + 1) follows in \(pause.components.seconds) s"
        try db.change(
            "UPDATE deliveries SET tries = ?, awaited = ?, request = ? WHERE id = ?",
            [tries + 1, reason, Store.parkedRequest, delivery])
        awaited.append(ScanOutcome.Awaited(delivery: delivery, pause: pause))
        transaction.changed(.delivery(rowID: delivery))
    }

    // MARK: Pushes

    /// Returns, for each ref, the last event waiting for this scan that names it.
    func newestClaims(_ rows: [StoredRow]) throws -> [RefName: Int64] {
        var newest: [RefName: Int64] = [:]
        for row in rows where try row["pull_request"] as Int? == nil {
            for claim in try row.json("claims", as: [RefClaim].self) ?? [] { newest[claim.ref] = try row["id"] }
        }
        return newest
    }

    /// Lets a push's event wait for another scan while the repository does not show the announced commit. Replicating hosts show a push some seconds
    /// after they announce it.
    /// - Returns: Whether it waits; if `false`, its outcome must be decided now.
    mutating func wait(
        for claims: [RefClaim], delivery: Int64, tries: Int, _ newest: [RefName: Int64]
    ) throws -> Bool {
        guard tries < Store.pausesForHead.count, awaited.count < Self.maximumAwaited else { return false }
        let late = try claims.first { claim in
            try newest[claim.ref] == delivery && (claim.ref.branch != nil || claim.ref.tag != nil)
                && mayComeYet(claim)
        }
        guard let late else { return false }
        // Refs that have already arrived still count as found by this event.
        for claim in claims {
            guard let movement = movements[claim.ref], movement.after == claim.after || claim.ref.tag != nil else {
                continue
            }
            try db.change(
                "INSERT OR IGNORE INTO delivery_updates (delivery, ref_update) VALUES (?, ?)",
                [delivery, movement.rowID])
        }
        let shown = scan.heads[late.ref].map { "shows \($0.abbreviated) at \(late.ref)" } ?? "does not list \(late.ref)"
        let told =
            late.isHeadUnknown
            ? "which is said to be there"
            : late.after.map { "not \($0.abbreviated) yet" } ?? "which is said to be deleted"
        try park(delivery, tries: tries, Store.pausesForHead[tries], "the repository \(shown), \(told)")
        return true
    }

    /// Returns whether the repository may show the announced commit later. That is so if it does not show it now, and no scan has seen that commit or
    /// a later one.
    private func mayComeYet(_ claim: RefClaim) throws -> Bool {
        let shown = scan.heads[claim.ref]
        if claim.isHeadUnknown { return shown == nil && movements[claim.ref] == nil }
        if shown == claim.after { return false }
        // The repository shows the state before the push, whatever it showed earlier: a forced push can go back.
        if shown == claim.before { return true }
        if claim.ref.tag != nil, shown != nil {
            // For an annotated tag the event names the tag object, and the scan its commit: only a movement can be detected.
            return claim.after != nil && claim.before != nil && movements[claim.ref] == nil
        }
        if try wasOvertaken(claim) { return false }
        return try db.first(
            "SELECT 1 FROM ref_updates WHERE repository = ? AND ref = ? AND after IS ?",
            [repository, claim.ref.description, claim.after?.description]
        ) { _ in true } == nil
    }

    /// Returns whether a scan has seen the ref move from the push's old commit to a commit other than its new one.
    func wasOvertaken(_ claim: RefClaim) throws -> Bool {
        try db.first(
            "SELECT 1 FROM ref_updates WHERE repository = ? AND ref = ? AND before IS ? AND after IS NOT ?",
            [repository, claim.ref.description, claim.before?.description, claim.after?.description]
        ) { _ in true } != nil
    }

    // MARK: Pull requests that were not scanned

    /// Returns the reason why a pull request was not scanned.
    func whyNotScanned(at number: Int) throws -> String {
        let known = try db.first(
            "SELECT is_open, closed_reason, place FROM pull_requests WHERE repository = ? AND number = ?",
            [repository, number]
        ) { row in
            (
                isOpen: try row["is_open"] as Bool, reason: try row["closed_reason"] as String?,
                place: try row.ref("place")
            )
        }
        guard let known else { return "it was closed long ago and is forgotten" }
        guard known.isOpen else { return ["it is closed", known.reason].compactMap(\.self).joined(separator: ": ") }
        if scan.heads.isEmpty { return "the repository has no branches" }
        return scan.asked.contains(known.place)
            ? "it was told of while it was scanned"
            : "more than \(Store.maximumOpenPulls) pull requests are open, and those with the highest numbers are scanned"
    }
}

extension Store {
    /// The pauses before each further scan for an announced head that the repository does not list. After the last one the event's outcome is
    /// decided.
    package static let pausesForHead: [Duration] = [2, 4, 8, 16, 32].map { .seconds($0) }

    /// The request number of an event whose scan nobody has requested yet. It is higher than all requested ones.
    static let parkedRequest = Int64.max

    /// Requests the scan that events wait for, once their pause is over.
    /// - Parameter deliveries: The row ids of the events. `nil` at startup, when no pause is running: all events of all repositories.
    /// - Returns: Whether a scan was requested.
    package func scanAgain(for deliveries: [Int64]?) async throws(StoreError) -> Bool {
        let rows = deliveries.map { "[" + $0.map(String.init).joined(separator: ",") + "]" }
        return try await writer.write("look again for what was told of") { transaction in
            let urls: [String] = try transaction.db.all(
                """
                SELECT DISTINCT url FROM deliveries JOIN repositories ON repositories.id = repository
                WHERE fate = 'pending' AND request = ?1 AND (?2 IS NULL OR deliveries.id IN (SELECT value FROM json_each(?2)))
                """, [Self.parkedRequest, rows]
            ) { try $0[0] }
            for url in urls {
                let sequence = try Self.requestScan(url, transaction)
                try transaction.db.change(
                    """
                    UPDATE deliveries SET request = ?1 WHERE fate = 'pending' AND request = ?2
                    AND repository = (SELECT id FROM repositories WHERE url = ?3)
                    AND (?4 IS NULL OR id IN (SELECT value FROM json_each(?4)))
                    """, [sequence, Self.parkedRequest, url, rows])
            }
            return !urls.isEmpty
        }
    }
}
