/// A line of `status.jsonl`. Times are in milliseconds since the epoch.
package enum StatusEvent: Sendable, Equatable {
    case started(step: Int, at: Int64)
    /// The main process of a step has ended, and so have all processes that it left behind. Exactly one of `exit` and
    /// `signal` is set. `limit` names the limit that ended the step: `testing exceeded 10 min`, `log over 64 MiB`.
    case ended(step: Int, at: Int64, exit: Int32?, signal: Int32?, limit: String?, usage: Usage)
    /// Always the last line. `step` is the step that failed, was canceled or was interrupted.
    case finished(at: Int64, result: Outcome, reason: String?, limit: String?, step: Int?)

    /// How the attempt ended.
    package enum Outcome: String, Sendable, CaseIterable {
        /// Every step ran and all required steps succeeded. Steps that are not required may have failed.
        case completed
        /// A required step failed, or its files exceed a limit.
        case failed
        /// The attempt was canceled on request; `reason` is from the request.
        case canceled
        /// The supervisor was asked to end without a cancel file: the machine is stopping.
        case interrupted
        /// The supervisor itself failed: no space, no workspace, or an unreadable job.
        case faulty
    }

    /// The resources that a step's processes used, as wait4(2) counts them.
    package struct Usage: Sendable, Equatable {
        package let userMilliseconds: Int64
        package let systemMilliseconds: Int64
        /// The memory of the largest single process.
        package let maximumResidentBytes: Int64

        package init(userMilliseconds: Int64 = 0, systemMilliseconds: Int64 = 0, maximumResidentBytes: Int64 = 0) {
            self.userMilliseconds = userMilliseconds
            self.systemMilliseconds = systemMilliseconds
            self.maximumResidentBytes = maximumResidentBytes
        }
    }

    /// The size limit of a line in bytes.
    package static let lineLimit = 64 * 1024

    /// The time of the event, in milliseconds since the epoch.
    package var at: Int64 {
        switch self {
        case .started(_, let at), .ended(_, let at, _, _, _, _), .finished(let at, _, _, _, _): at
        }
    }

    package var isFinished: Bool { if case .finished = self { true } else { false } }
}
