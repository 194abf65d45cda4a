import Model
import Storage

extension IntegrationRecord {
    /// The priority of the integration, and of its jobs. A lower number goes first; see `Scheduler.choose`.
    package var priority: Int {
        Priority.number(
            cause, isRerun: run > 1, isRelease: isRelease, isFork: pull.map { !$0.isTrusted } ?? false)
    }
}

extension OpenIntegration {
    /// The priority of the integration; see `Scheduler.choose`.
    package var priority: Int {
        Priority.number(cause, isRerun: run > 1, isRelease: isRelease, isFork: isFork)
    }
}

/// The order in which integrations and their jobs start.
private enum Priority {
    static func number(_ cause: Cause, isRerun: Bool, isRelease: Bool, isFork: Bool) -> Int {
        if isRerun { return Cause.person.priority }
        if isFork { return Cause.schedule.priority + 1 }
        return [.person, .upgrade, .schedule].contains(cause) || !isRelease ? cause.priority : 1
    }
}
