/// The wish that a repository is looked at. Take it just before looking: events that come later get a higher sequence,
/// so that their look is still to be made when this one ends.
package struct LookRequest: Hashable, Sendable {
    package var repository: String
    /// Counts the requests of this repository.
    package var sequence: Int64

    package init(repository: String, sequence: Int64) {
        self.repository = repository
        self.sequence = sequence
    }
}
