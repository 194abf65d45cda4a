import TestSupport
import Testing

extension Daemon {
    /// Gives a daemon that was not started a state directory on a disk of its own, and removes the disk afterwards in any case.
    /// - Parameter arguments: The arguments of `mount` before the directory.
    func onDisk(mount arguments: [String], _ body: () async throws -> Void) async throws {
        try directory.makeDirectory("state")
        try await runExpectingSuccess(["mount"] + arguments + [state])
        var failure: (any Error)?
        do { try await body() } catch { failure = error }
        _ = try? await stop()  // What the body threw is told; a daemon that does not end is an issue of its own.
        await endJobs()
        try await runExpectingSuccess(["umount", "-l", state])
        if let failure { throw failure }
    }
}
