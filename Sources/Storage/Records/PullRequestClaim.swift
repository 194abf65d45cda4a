package import Model

/// What an event says of a pull request. It is a claim: which commit is its head, and whose it is, says the look.
package struct PullRequestClaim: Hashable, Sendable {
    package var number: Int
    /// Its name in the ledger.
    package var ref: RefName
    /// The ref at which the repository has its head.
    package var place: RefName
    /// The branch that it is to go into.
    package var base: RefName
    /// Nothing where the forge does not tell it whole.
    package var head: CommitID?
    package var isOpen: Bool
    /// The forge's own time of the change, so that events which overtake each other do no harm; nothing where it tells none.
    package var toldAt: Timestamp?
    /// What the forge says has happened; orders events of one time.
    package var change: Change

    /// In the order in which they follow each other within one second: who closes and opens again, to have it built anew, does so at once.
    package enum Change: Int, Hashable, Sendable {
        case opened, updated, closed, reopened
    }

    package init(
        number: Int, ref: RefName, place: RefName, base: RefName, head: CommitID?, isOpen: Bool, toldAt: Timestamp?,
        change: Change = .updated
    ) {
        self.number = number
        self.ref = ref
        self.place = place
        self.base = base
        self.head = head
        self.isOpen = isOpen
        self.toldAt = toldAt
        self.change = isOpen ? change : .closed
    }
}
