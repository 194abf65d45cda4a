import JobProtocol
import Model
import Storage

/// Links to the place of an issue in a log.
enum LogAddress {
    /// Returns the address of the log of a configuration where an issue was found: at the beginning of its step.
    /// - Parameters:
    ///   - attempt: The attempt whose log is linked.
    ///   - kind: The kind of step that found the issue; `nil` if it is unknown. A step that failed is preferred.
    static func href(_ attempt: AttemptRecord, kind: JobStep?) -> String {
        let id = attempt.id
        let steps = attempt.steps.filter { kind == nil || $0.step == kind }
        let failed = steps.last { $0.exit != 0 && $0.endedAt != nil }
        let step = (failed ?? (kind == nil ? nil : steps.last)).map { "&step=\($0.index)" } ?? ""
        return "/bots/\(id.integration.bot)/\(id.integration.number)/log/\(id.job)?attempt=\(id.attempt)\(step)"
    }
}
