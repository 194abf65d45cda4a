/// Whether an attempt's supervisor lives, as the lock and the last line of its status tell.
package enum Liveness: Sendable, Equatable {
    /// Nothing was launched yet.
    case notStarted
    case running
    case finished
    /// The supervisor is gone without a last line. The workspace cannot be trusted.
    case lost
}
