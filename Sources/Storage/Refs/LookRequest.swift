/// A request for a scan of a repository. Take it just before scanning: later events get a higher sequence, so another scan remains due when this one
/// ends.
package struct LookRequest: Hashable, Sendable {
    package var repository: String
    /// The number of the request, counted per repository.
    package var sequence: Int64
    /// Whether an event waits for the scan. Such scans are made before those that are only due by time.
    package var hasEvent: Bool

    package init(repository: String, sequence: Int64, hasEvent: Bool = false) {
        self.repository = repository
        self.sequence = sequence
        self.hasEvent = hasEvent
    }
}
