import Integrations
import Model

/// What a caller controls, each with its row in the audit.
extension Site {
    /// Starts no new integration of a bot, or of any bot if `bot` is `nil`.
    func pause(_ bot: Name?, reason: String?, by call: AuthorizedRequest) async throws -> ServiceControl.State {
        let state = try await operations.control.pause(bot: bot, reason: reason, by: call.caller.name)
        try await record(.paused, by: call, bot: bot, Self.subject(bot), reason)
        return state
    }

    /// Ends the pause of a bot, or that of the service with a drain if `bot` is `nil`.
    func resume(_ bot: Name?, by call: AuthorizedRequest) async throws -> ServiceControl.State {
        let state = try await operations.control.resume(bot: bot, by: call.caller.name)
        try await record(.resumed, by: call, bot: bot, Self.subject(bot))
        return state
    }

    /// Ends the hold of publishing after an older backup was restored.
    /// - Parameter lost: The versions that were published after the backup was made.
    func resumePublishing(
        lost: [(product: Name, version: SemanticVersion)], by call: AuthorizedRequest
    ) async throws -> ServiceControl.State {
        let state = try await operations.control.resumePublishing(lost: lost, by: call.caller.name)
        let versions = lost.map { "\($0.product) \($0.version)" }.joined(separator: ", ")
        try await record(.resumed, by: call, "publishing", versions.isEmpty ? nil : "published meanwhile: \(versions)")
        return state
    }

    /// Starts no new integration until `resume` or a restart of the machine.
    func drain(reason: String?, by call: AuthorizedRequest) async throws -> ServiceControl.State {
        let state = try await operations.control.drain(reason: reason, by: call.caller.name)
        try await record(.drained, by: call, Self.subject(nil), reason)
        return state
    }

    private static func subject(_ bot: Name?) -> String { bot?.description ?? "the service" }
}
