/// The state of an attempt's supervisor, by its lock and the last line of its status.
package enum Liveness: Sendable, Equatable {
    /// No job was launched yet.
    case notStarted
    case running
    case finished
    /// The supervisor is gone without a last event. The workspace cannot be trusted.
    case lost
}
