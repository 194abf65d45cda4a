/// The names within an attempt's directory: the one interface between the daemon and whatever runs a job.
package struct AttemptPaths: Sendable, Hashable {
    /// Absolute, or beneath a directory that the reader has open.
    package let directory: String

    package init(_ directory: String) { self.directory = directory }

    /// What to run.
    package var job: String { directory + "/job.json" }
    /// Locked by the supervisor while it lives; see `LockContent`.
    package var lock: String { directory + "/lock" }
    /// One `StatusEvent` a line; the last is always `finished`.
    package var status: String { directory + "/status.jsonl" }
    /// What the steps printed, with secrets masked.
    package var log: String { directory + "/log" }
    /// One `LogIndexRecord` a chunk of the log.
    package var logIndex: String { directory + "/log.index" }
    /// The paths of the commit's files that a step's `report` matches, each followed by a NUL; absent if there is none.
    package var tracked: String { directory + "/tracked" }
    /// One `LeftOut` per line; absent if every file was copied.
    package var leftOut: String { directory + "/left-out" }
    /// A `CancelRequest`, written before the signal.
    package var cancel: String { directory + "/cancel" }
    /// `reports/<index of the step>/<path in the workspace>`.
    package var reports: String { directory + "/reports" }
    /// What the steps left to be kept, as a tree of files.
    package var artifacts: String { directory + "/artifacts" }
    /// The same, and the source, as the packed files that are served and published.
    package var archives: String { directory + "/archives" }
}
