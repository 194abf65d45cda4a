package import Basics
package import Execution
import Jobs
import Logging
package import SourceControl

/// Notices that the machine has stopped since the service last worked, and doubts what that may have damaged.
///
/// Mirrors, workspaces and what is remembered beside these are not synchronized, since each can be recreated
/// (docs/internals/decisions/0057-what-can-be-recreated-is-not-synced.md). The end of a process does not damage them. After a stop of the machine
/// they may be old, empty or torn. The record, one synchronized line in `boot`, is the id of the boot in which the service works, or `clean` once it
/// has ended without jobs that go on, and all is on the disk.
package struct BootRecord: Sendable {
    /// What `begin` found.
    package enum Finding: Sendable, Equatable {
        /// All is as it was written.
        case trusted
        /// The machine may have stopped while something was only in memory.
        case doubted(mirrors: Int, workspaces: Int)
    }

    private let state: StateDirectory
    private let boot: MachineBoot

    private static let clean = "clean"

    /// - Parameter boot: With an unknown id everything is doubted, unless the service before this one has ended in order.
    package init(state: StateDirectory, boot: MachineBoot) {
        (self.state, self.boot) = (state, boot)
    }

    /// Doubts mirrors and workspaces if need be, and records this boot. Call it before anything else uses them; it blocks.
    /// - Throws: `FileError` or `SourceControlError`, for instance when the disk is full: the first failure, once all else is doubted. The next start
    ///   doubts everything again.
    package func begin(_ mirrors: Mirrors) throws -> Finding {
        let recorded = (try? WholeFile.read(state.boot, limit: 100)).map { String(decoding: $0, as: UTF8.self) }
        if let id = boot.id, recorded == "\(id)\n" { return .trusted }
        if recorded == "\(Self.clean)\n" {
            try record(boot.id)
            return .trusted
        }
        // Recorded last: what stops the daemon or the machine before that is followed by another start that doubts.
        let workspaces = Result { () throws(FileError) in try doubtWorkspaces() }
        let finding = Finding.doubted(mirrors: try mirrors.doubt(), workspaces: try workspaces.get())
        try record(boot.id)
        return finding
    }

    /// Returns what the operator does about an error of `begin`.
    package static func advice(for error: any Error) -> String {
        let cause = error as? FileError ?? (error as? SourceControlError)?.underlying as? FileError
        return switch cause?.code {
        case .noSpace: "free space in the state directory and restart the service"
        case .denied: "let the service's user write the file that the error names, and restart the service"
        default:
            "check the disk, remove the mirror or the workspace that the error names, which is made again, and restart the service"
        }
    }

    /// Writes everything to the disk and records that all can be trusted, unless jobs still run. Call it once the service has stopped working. It
    /// blocks until the disk has written everything. Without this call, another boot doubts everything.
    /// - Parameter hasJobs: Whether jobs still run, which write their workspaces after this. The record stays then: another boot doubts everything.
    /// - Throws: `FileError`; everything is doubted then if the machine stops.
    package func end(hasJobs: Bool) throws(FileError) {
        guard !hasJobs else { return }
        for place in [state.path, state.repositories, state.workspaces] {
            try Directory(opening: place).synchronizeFileSystem()
        }
        try record(Self.clean)
    }

    private func record(_ text: String?) throws(FileError) {
        do throws(FileError) {
            try AtomicFile.write(Array("\(text ?? "unknown")\n".utf8), to: state.boot, mode: 0o600)
        } catch {
            // `clean` must not stay, whatever the disk takes: what is written from now on is not synchronized.
            let directory = try Directory(opening: state.path)
            try directory.remove("boot")
            try directory.synchronize()
            throw error
        }
    }

    /// Removes the records of what lies in the workspaces: the next checkout of each begins in an empty tree, without remembered warnings.
    /// - Throws: The first failure, once all others are removed.
    private func doubtWorkspaces() throws(FileError) -> Int {
        let all = Workspace.all(in: state.workspaces)
        var failure: FileError?
        for workspace in all {
            do throws(FileError) {
                try Directory(opening: workspace.state).remove("record")
            } catch {
                // The record is absent before the first checkout.
                if error.code != .notFound { failure = failure ?? error }
            }
        }
        if let failure { throw failure }
        return all.count
    }
}
