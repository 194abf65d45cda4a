/// The wish that a repository is looked at. Take it just before looking: events that come later get a higher sequence,
/// so that their look is still to be made when this one ends.
package struct LookRequest: Hashable, Sendable {
    package var repository: String
    /// Counts the requests of this repository.
    package var sequence: Int64
    /// Whether an event waits for the look: it goes before what time alone asks for.
    package var hasEvent: Bool

    package init(repository: String, sequence: Int64, hasEvent: Bool = false) {
        self.repository = repository
        self.sequence = sequence
        self.hasEvent = hasEvent
    }
}
