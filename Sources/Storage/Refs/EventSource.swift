/// The source of an event.
package enum EventSource: String, Hashable, Sendable, Codable, CaseIterable {
    /// A forge's signed webhook.
    case webhook
    case schedule, person
    /// The version of the machine's toolchain has changed.
    case upgrade
}
