/// Why an integration was queued.
package enum Cause: String, Sendable, Codable, CaseIterable {
    case push, poll, schedule, person, baseline, pull
    /// The machine's toolchain has a new version.
    case upgrade

    /// The priority in the queue; lower numbers run first: users' requests, then pushes and polls, then upgrades, then schedules. The scheduler ranks
    /// release branches.
    package var priority: Int {
        switch self {
        case .person: 0
        case .push, .poll, .baseline, .pull: 2
        case .upgrade: 3
        case .schedule: 4
        }
    }
}

/// The outcome of an event or of a ref update.
package enum EventOutcome: String, Sendable, Codable, CaseIterable {
    case pending, integrated, coalesced, duplicate, baseline, superseded, ignored, refused
}

/// A role of the HTTP interface. Each role may do everything that the roles before it may.
package enum Role: String, Sendable, Codable, CaseIterable, Comparable {
    case viewer, `operator`, admin

    package static func < (left: Role, right: Role) -> Bool { left.rank < right.rank }
    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
