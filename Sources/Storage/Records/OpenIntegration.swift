package import Model

/// What the scheduler has to know of an integration that waits or runs. Without its recipe, which can be large: the whole
/// queue is read whenever something changes.
package struct OpenIntegration: Hashable, Sendable {
    package var id: IntegrationID
    /// The row's number: older ones have lower ones.
    package var rowID: Int64
    package var ref: RefName
    package var commit: CommitID
    package var cause: Cause
    package var isRelease: Bool
    /// Above 1 it is a rerun, which a person asked for.
    package var run: Int
    /// The newer integration of the same ref for which it is to end.
    package var supersededBy: IntegrationID?
    /// Its first step: it runs, and neither its recipe nor any job of it does.
    package var isPreparing: Bool
    /// Of a fork's pull request: anybody can ask for it.
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

/// How much there is to do.
package struct OpenCounts: Hashable, Sendable {
    /// Bots that are not retired.
    package var bots: Int
    package var queued: Int
    package var running: Int

    package init(bots: Int, queued: Int, running: Int) {
        self.bots = bots
        self.queued = queued
        self.running = running
    }
}
