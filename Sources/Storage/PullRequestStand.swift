import GRDB
import Model

/// How far events have told of a pull request, and what the next one may change.
///
/// Forges' times are of a second, and events overtake each other. So that the same events come to the same whatever their order: a newer
/// time goes first, then what follows within a second (`PullRequestClaim.Change`), and a base that an event of this very second took away
/// does not come back by another of it. An event without a time counts as told now, and the time of those before it stays.
struct PullRequestStand: Hashable {
    var base: RefName
    var isOpen: Bool
    /// The newest time that an event told.
    var toldAt: Int64?
    /// Of the events of that time the last that counted.
    var rank: Int
    /// The base that an event of that time took away.
    var baseBefore: RefName?

    /// Above all changes: nothing of that time counts any more.
    static let lastRank = 9

    /// - Returns: Nothing for a claim that is older than what is known, or as old and no newer word.
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
