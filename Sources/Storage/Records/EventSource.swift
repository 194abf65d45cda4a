/// Where an event came from.
package enum EventSource: String, Hashable, Sendable, Codable, CaseIterable {
    /// A forge's signed webhook.
    case webhook
    /// A git server's own hook.
    case hook
    case schedule, person, poll
    /// The machine's toolchain has another version.
    case upgrade
}
