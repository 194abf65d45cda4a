package import Model

/// An event's claim about a pull request. Only the scan determines which commit is its head and whose it is.
package struct PullRequestClaim: Hashable, Sendable {
    package var number: Int
    /// The pull request's name in the ledger.
    package var ref: RefName
    /// The ref in the repository that holds the pull request's head.
    package var place: RefName
    /// The branch that the pull request is to be merged into.
    package var base: RefName
    /// The head; `nil` if the forge does not send the whole id.
    package var head: CommitID?
    package var isOpen: Bool
    /// The forge's own time of the change, so that events that arrive out of order do no harm; `nil` if the forge sends none.
    package var toldAt: Timestamp?
    /// The change according to the forge. It orders events of the same time.
    package var change: Change

    /// The changes in the order in which they follow each other within one second. Users who close and reopen a pull request, to have it built again,
    /// do so at once.
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
