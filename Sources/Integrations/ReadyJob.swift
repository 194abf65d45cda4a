import Model

/// An attempt that can be started, or why it cannot.
struct ReadyJob: Sendable {
    struct Content: Sendable {
        var plan: JobPlanner.Plan
        /// Values by variable, which go over the launch socket alone.
        var secrets: [String: String]
    }

    /// Taken in any case; whoever has this gives it back.
    var workspace: Workspace
    /// Nothing where the integration was canceled meanwhile.
    var content: Result<Content?, any Error>
}
