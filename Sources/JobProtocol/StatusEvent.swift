/// One line of `status.jsonl`. The times are milliseconds since the epoch.
package enum StatusEvent: Sendable, Equatable {
    case started(step: Int, at: Int64)
    /// A step's main process has ended, and all that it left behind. Exactly one of `exit` and `signal` is there.
    /// `limit` says in words which limit ended it: `testing exceeded 10 min`, `log over 64 MiB`.
    case ended(step: Int, at: Int64, exit: Int32?, signal: Int32?, limit: String?, usage: Usage)
    /// Always the last line. `step` is the one that failed, was canceled or interrupted.
    case finished(at: Int64, result: Outcome, reason: String?, limit: String?, step: Int?)

    /// How the attempt ended.
    package enum Outcome: String, Sendable, CaseIterable {
        /// Every step ran, and each that must succeed did; steps that need not may have failed.
        case completed
        /// A step that must succeed did not, or what it left is over a limit.
        case failed
        /// Somebody wanted it; the reason is theirs.
        case canceled
        /// The supervisor was told to end without a cancel file: the machine is stopping.
        case interrupted
        /// The supervisor itself could not do its work: no space, no workspace, an unreadable job.
        case faulty
    }

    /// What a step's processes used, as wait4(2) counts it.
    package struct Usage: Sendable, Equatable {
        package let userMilliseconds: Int64
        package let systemMilliseconds: Int64
        /// Of the largest single process.
        package let maximumResidentBytes: Int64

        package init(userMilliseconds: Int64 = 0, systemMilliseconds: Int64 = 0, maximumResidentBytes: Int64 = 0) {
            self.userMilliseconds = userMilliseconds
            self.systemMilliseconds = systemMilliseconds
            self.maximumResidentBytes = maximumResidentBytes
        }
    }

    /// The most bytes of one line.
    package static let lineLimit = 64 * 1024

    /// When it happened, in milliseconds since the epoch.
    package var at: Int64 {
        switch self {
        case .started(_, let at), .ended(_, let at, _, _, _, _), .finished(let at, _, _, _, _): at
        }
    }

    package var isFinished: Bool { if case .finished = self { true } else { false } }
}
