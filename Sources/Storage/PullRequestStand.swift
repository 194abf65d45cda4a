import GRDB
import Model

/// What events have said about a pull request so far, which decides what the next one may change.
///
/// Forges' times have a resolution of a second, and events overtake each other. So that the order of the same events does not matter, a newer time
/// wins, then the later change within a second (`PullRequestClaim.Change`). A base that an event of this second removed does not return by another
/// event of it. An event without a time counts as the newest, and the stored time stays.
struct PullRequestStand: Hashable {
    var base: RefName
    var isOpen: Bool
    /// The newest time that an event told.
    var toldAt: Int64?
    /// Of the events of that time the last that counted.
    var rank: Int
    /// The base that an event of that time took away.
    var baseBefore: RefName?

    /// Above all changes: no further change of that time counts.
    static let lastRank = 9

    /// - Returns: `nil` for a claim that is older than the known one, or as old and of no higher rank.
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
