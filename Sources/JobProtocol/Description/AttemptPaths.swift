/// The paths of files in an attempt's directory. These files are the only interface between the daemon and the program
/// that runs a job.
package struct AttemptPaths: Sendable, Hashable {
    /// An absolute path, or a path beneath a directory that the reader has open.
    package let directory: String

    package init(_ directory: String) { self.directory = directory }

    /// The `JobDescription`.
    package var job: String { directory + "/job.json" }
    /// A file that the supervisor locks while it lives; see `LockContent`.
    package var lock: String { directory + "/lock" }
    /// One `StatusEvent` per line. The last one is always `finished`.
    package var status: String { directory + "/status.jsonl" }
    /// The output of the steps, with secrets masked.
    package var log: String { directory + "/log" }
    /// One `LogIndexRecord` for each chunk of the log.
    package var logIndex: String { directory + "/log.index" }
    /// The paths of the commit's files that a step's `report` matches, each followed by a NUL; absent if there is none.
    package var tracked: String { directory + "/tracked" }
    /// One `LeftOut` per line; absent if every file was copied.
    package var leftOut: String { directory + "/left-out" }
    /// A `CancelRequest`, written before the signal.
    package var cancel: String { directory + "/cancel" }
    /// The files that the job collected, as a directory tree.
    package var artifacts: String { directory + "/artifacts" }
    /// The same files and the source as archives, which are served and published.
    package var archives: String { directory + "/archives" }
}
