package import Model

/// The scheduler's view of a queued or running integration. It has no recipe, which can be large: the whole queue is read whenever something changes.
package struct OpenIntegration: Hashable, Sendable {
    package var id: IntegrationID
    /// The row's number; older integrations have lower ones.
    package var rowID: Int64
    package var ref: RefName
    package var commit: CommitID
    package var cause: Cause
    package var isRelease: Bool
    /// The number of the run. Above 1 it is a rerun that a user requested.
    package var run: Int
    /// The newer integration of the same ref that supersedes this one.
    package var supersededBy: IntegrationID?
    /// Whether the integration is running but still being prepared: neither its recipe nor a job has started.
    package var isPreparing: Bool
    /// Whether it belongs to a fork's pull request, which anybody can open.
    package var isFork: Bool

    package init(
        id: IntegrationID, rowID: Int64, ref: RefName, commit: CommitID, cause: Cause, isRelease: Bool = false,
        run: Int = 1, supersededBy: IntegrationID? = nil, isPreparing: Bool = false, isFork: Bool = false
    ) {
        self.id = id
        self.rowID = rowID
        self.ref = ref
        self.commit = commit
        self.cause = cause
        self.isRelease = isRelease
        self.run = run
        self.supersededBy = supersededBy
        self.isPreparing = isPreparing
        self.isFork = isFork
    }
}

/// The numbers of bots and open integrations.
package struct OpenCounts: Hashable, Sendable {
    /// The number of bots that are not retired.
    package var bots: Int
    package var queued: Int
    package var running: Int

    package init(bots: Int, queued: Int, running: Int) {
        self.bots = bots
        self.queued = queued
        self.running = running
    }
}
