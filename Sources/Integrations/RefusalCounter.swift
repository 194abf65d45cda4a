import Synchronization

/// How many deliveries were refused for their signature: all that one without a valid one leaves behind, since rows could be made
/// without end.
package final class RefusalCounter: Sendable {
    private let value = Atomic<Int>(0)

    /// Since the daemon began.
    package var total: Int { value.load(ordering: .relaxed) }

    func count() { value.wrappingAdd(1, ordering: .relaxed) }
}
