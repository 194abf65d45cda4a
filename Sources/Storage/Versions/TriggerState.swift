/// The state of one attempt of a trigger.
package enum TriggerState: String, Hashable, Sendable, Codable, CaseIterable {
    case running, succeeded, failed, skipped
}
