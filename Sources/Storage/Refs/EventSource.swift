/// The source of an event.
package enum EventSource: String, Hashable, Sendable, Codable, CaseIterable {
    /// A forge's signed webhook.
    case webhook
    /// A git server's own hook.
    case hook
    case schedule, person, poll
    /// The version of the machine's toolchain has changed.
    case upgrade
}
