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
    /// The executor of the attempt and what it asks for; absent for the machine's own executor. See `Placement` in Execution.
    package var placement: String { directory + "/placement.json" }
    /// What a node of a cluster checks out before the job.
    package var checkout: String { directory + "/checkout.json" }
    /// The node that has begun the attempt, in the form of the lock. It is created exclusively, so that one attempt begins once.
    package var node: String { directory + "/node" }
    /// A file that the attempt's process on another machine changes every two seconds while it lives.
    package var heartbeat: String { directory + "/heartbeat" }
    /// Exists if the job was perhaps handed to a cluster, whose queue then has to be asked before it is handed over again.
    package var submitting: String { directory + "/submitting" }
    /// The time at which the job was handed to a cluster, in milliseconds since the epoch.
    package var submitted: String { directory + "/submitted" }
    /// Why the attempt is given up as lost. Its process, should it still live, ends when it sees this file.
    package var loss: String { directory + "/loss" }
    /// Exists if the node emptied the workspace before the job.
    package var fresh: String { directory + "/fresh" }
    /// Why a node could not check the commit out.
    package var checkoutError: String { directory + "/checkout-error" }
    /// What the node fetches the attempt's secrets with; see `SecretToken` in Execution. The node removes it.
    package var token: String { directory + "/token.json" }
    /// Which process has fetched the secrets, created exclusively by the daemon.
    package var secretsUse: String { directory + "/secrets-use" }
    /// A sentence about a use of the token that was refused.
    package var secretsRefused: String { directory + "/secrets-refused" }
    /// What is wrong with the node, though the job ran there: sentences, one a line.
    package var nodeNotes: String { directory + "/node-notes" }
    /// The interval of the heartbeat in milliseconds.
    package static let heartbeatMilliseconds: Int32 = 2000

    /// The files that the job collected, as a directory tree.
    package var artifacts: String { directory + "/artifacts" }
    /// The same files and the source as archives, which are served and published.
    package var archives: String { directory + "/archives" }
}
