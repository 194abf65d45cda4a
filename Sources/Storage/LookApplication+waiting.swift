import GRDB
import Model

/// Heads that a forge tells of before its repository lists them, and pull requests that no look asked for.
extension LookApplication {
    /// Events of one look that may wait for the next.
    private static let maximumAwaited = 100

    /// Whether the head that an event tells of may still come to where it is looked for.
    /// - Parameter newest: What the newest of the events that wait for this look tells.
    func mayComeYet(_ number: Int, _ claim: RefClaim?, newest: CommitID?) throws -> Bool {
        guard let pull = pulls[number], let claim, let claimed = claim.after, pull.head != claimed,
            newest == claimed
        else { return false }
        // It was there once: who pushes by force tells of it late.
        return try db.first(
            "SELECT 1 FROM ref_updates WHERE repository = ? AND ref = ? AND after = ?",
            [repository, claim.ref.description, claimed.description]
        ) { _ in true } == nil
    }

    /// Lets an event wait for another look, which is to be asked for after a pause.
    /// - Returns: Whether it waits; else it has waited long enough.
    mutating func wait(for number: Int, _ claim: RefClaim?, delivery: Int64, tries: Int) throws -> Bool {
        guard tries < Store.pausesForHead.count, awaited.count < Self.maximumAwaited, let claim,
            let claimed = claim.after
        else { return false }
        let pause = Store.pausesForHead[tries]
        let seen = pulls[number]?.head.map { "shows \($0.abbreviated) at \(claim.ref)" } ?? "does not list \(claim.ref)"
        let reason =
            "the repository \(seen), not \(claimed.abbreviated) yet: look \(tries + 2) of "
            + "\(Store.pausesForHead.count + 1) follows in \(pause.components.seconds) s"
        try db.change(
            "UPDATE deliveries SET tries = ?, awaited = ?, request = ? WHERE id = ?",
            [tries + 1, reason, Store.parkedRequest, delivery])
        awaited.append(LookOutcome.Awaited(delivery: delivery, pause: pause))
        transaction.changed(.delivery(rowID: delivery))
        return true
    }

    /// Why a pull request was not looked at.
    func whyNotLooked(at number: Int) throws -> String {
        let known = try db.first(
            "SELECT is_open, closed_reason, place FROM pull_requests WHERE repository = ? AND number = ?",
            [repository, number]
        ) { row in
            (isOpen: row["is_open"] as Bool, reason: row["closed_reason"] as String?, place: try row.ref("place"))
        }
        guard let known else { return "it was closed long ago and is forgotten" }
        guard known.isOpen else { return ["it is closed", known.reason].compactMap(\.self).joined(separator: ": ") }
        if look.heads.isEmpty { return "the repository has no branches" }
        return look.asked.contains(known.place)
            ? "it was told of while it was looked at"
            : "more than \(Store.maximumOpenPulls) pull requests are open, and those with the highest numbers are looked at"
    }
}

extension Store {
    /// Before each further look for a head that the forge told of and does not list; after the last the event has its fate.
    package static let pausesForHead: [Duration] = [2, 4, 8, 16, 32].map { .seconds($0) }

    /// Of an event that waits for a look that nobody has asked for yet: above all that are asked for.
    static let parkedRequest = Int64.max

    /// Asks for the look that events wait for, once their pause is over.
    /// - Parameter deliveries: Their rows; nothing: all of all repositories, at the start, when no pause goes on.
    package func lookAgain(for deliveries: [Int64]?) async throws(StoreError) -> Bool {
        let rows = deliveries.map { "[" + $0.map(String.init).joined(separator: ",") + "]" }
        return try await lane.write("look again for what was told of") { transaction in
            let urls: [String] = try transaction.db.all(
                """
                SELECT DISTINCT url FROM deliveries JOIN repositories ON repositories.id = repository
                WHERE fate = 'pending' AND request = ?1 AND (?2 IS NULL OR deliveries.id IN (SELECT value FROM json_each(?2)))
                """, [Self.parkedRequest, rows]
            ) { $0[0] }
            for url in urls {
                let sequence = try Self.requestLook(url, transaction)
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
