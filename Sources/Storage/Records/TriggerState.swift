/// Where one try at a trigger is.
package enum TriggerState: String, Hashable, Sendable, Codable, CaseIterable {
    case running, succeeded, failed, skipped
}
