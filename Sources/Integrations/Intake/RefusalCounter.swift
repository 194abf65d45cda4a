import Synchronization

/// Counts the deliveries that were refused for their signature. The count is the only record of such deliveries, because anyone could otherwise
/// create rows without limit.
package final class RefusalCounter: Sendable {
    private let value = Atomic<Int>(0)

    /// The number since the daemon's start.
    package var total: Int { value.load(ordering: .relaxed) }

    func count() { value.wrappingAdd(1, ordering: .relaxed) }
}
