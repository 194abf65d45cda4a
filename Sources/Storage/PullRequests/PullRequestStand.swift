import GRDB
import Model

/// The state of a pull request according to the events so far. It decides what the next event may change.
///
/// Forges' times have a resolution of one second, and events can arrive out of order. The result must not depend on the order of the same events.
/// Therefore a newer time wins, then the later change within a second (`PullRequestClaim.Change`). A base that an event of a second removed does not
/// return by another event of the same second. An event without a time counts as the newest, and the stored time stays.
struct PullRequestStand: Hashable {
    var base: RefName
    var isOpen: Bool
    /// The newest time that an event carried, in milliseconds since 1970.
    var toldAt: Int64?
    /// The change of the last event of that time that was applied.
    var rank: Int
    /// The base that an event of that time replaced.
    var baseBefore: RefName?

    /// A rank above all changes: no further change of that time is applied.
    static let lastRank = 9

    /// Returns the state after an event.
    /// - Returns: `nil` for a claim that is older than the known one, or has the same time and a lower rank.
    func after(_ claim: PullRequestClaim) -> PullRequestStand? {
        var next = self
        next.isOpen = claim.isOpen
        guard let time = claim.toldAt?.millisecondsSinceEpoch else {
            (next.base, next.rank, next.baseBefore) = (claim.base, Self.lastRank, nil)
            return next
        }
        if let toldAt {
            guard (time, claim.change.rawValue) >= (toldAt, rank) else { return nil }
        }
        next.rank = claim.change.rawValue
        if time != toldAt {
            next.toldAt = time
            next.baseBefore = nil
        }
        if claim.base != base, claim.base != next.baseBefore {
            (next.base, next.baseBefore) = (claim.base, base)
        }
        return next
    }
}

extension PullRequestStand {
    init(_ row: StoredRow) throws {
        self.init(
            base: try row.ref("base"), isOpen: try row["is_open"], toldAt: try row["told_at"],
            rank: try row["told_rank"],
            baseBefore: (try row["base_before"] as String?).map { RefName($0) })
    }
}
