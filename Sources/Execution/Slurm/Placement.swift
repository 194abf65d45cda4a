import Basics
import CLinux
import Foundation
import Glibc
package import JobProtocol
package import Model

/// The executor that an attempt was given to, and what it asks for: the content of `placement.json`.
package struct Placement: Sendable, Hashable, Codable {
    /// The size limit of the file in bytes.
    static let sizeLimit = 64 << 10

    /// The name of the executor in the settings.
    package var executor: Name
    package var needs: JobNeeds
    /// `SecretToken.digest`; `nil` if the job has no secrets.
    package var tokenDigest: String?
    /// The node that has the workspace of the build before; `nil` if there is none. It is preferred for a limited time.
    package var warmNode: String?

    package init(executor: Name, needs: JobNeeds, tokenDigest: String? = nil, warmNode: String? = nil) {
        (self.executor, self.needs, self.tokenDigest) = (executor, needs, tokenDigest)
        self.warmNode = warmNode
    }
}

extension AttemptDirectory {
    /// Records the attempt's executor, before the attempt is started.
    /// - Throws: `.directory`.
    package func place(_ placement: Placement) throws(ExecutionError) {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            try AtomicFile.write(Array(encoder.encode(placement)), to: paths.placement)
        } catch {
            throw ExecutionError(.directory, "write \(paths.placement)", "\(error)", underlying: error)
        }
    }

    /// Returns the attempt's executor; `nil` if it is the machine's own.
    /// - Throws: `.directory`, `.malformed`.
    package func placement() throws(ExecutionError) -> Placement? {
        guard let bytes = try readIfPresent(paths.placement, limit: Placement.sizeLimit) else { return nil }
        do {
            return try JSONDecoder().decode(Placement.self, from: Data(bytes))
        } catch {
            throw ExecutionError(.malformed, "read \(paths.placement)", "\(error)", underlying: error)
        }
    }

    /// Records that this process begins the attempt on a node. Only one process succeeds, whoever else was told to begin it.
    /// - Returns: `false` if the attempt was begun before.
    /// - Throws: `.directory`.
    package func claim() throws(ExecutionError) -> Bool {
        try createExclusively(paths.node, Array(LockContent.ofThisProcess().text.utf8))
    }

    /// Returns the process that has begun the attempt on a node; `nil` if there is none.
    /// - Throws: `.directory`.
    package func claimant() throws(ExecutionError) -> LockContent? {
        guard let bytes = try readIfPresent(paths.node, limit: 4096) else { return nil }
        // An empty file is being written, or was left by a full disk: it is a claim all the same.
        return LockContent(String(decoding: bytes, as: UTF8.self)) ?? LockContent(bootID: "", pid: 0, startTime: 0)
    }

    /// Gives up an attempt that this process has claimed and cannot begin, for a reason that another node or a later time may not have. It is lost,
    /// and a new attempt may follow.
    /// - Throws: `.directory`.
    package func giveUp(_ reason: String) throws(ExecutionError) {
        let line = reason.split(whereSeparator: \.isNewline).joined(separator: " ").prefix(1000)
        _ = try createExclusively(paths.loss, Array("lost \(line)\n".utf8))
    }

    /// How far this machine's clock is ahead of the clock of the shared file system, in seconds, by a file that this process has just made; `nil` if
    /// there is no such file.
    package func clockLead() -> Double? {
        var status = stat()
        guard stat(paths.node, &status) == 0 else { return nil }
        let made = Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9
        return Date().timeIntervalSince1970 - made
    }

    /// Records what is wrong with the node for the attempt's reason.
    /// - Throws: `.directory`.
    package func recordNodeNotes(_ notes: [String]) throws(ExecutionError) {
        guard !notes.isEmpty else { return }
        _ = try createExclusively(paths.nodeNotes, Array(notes.joined(separator: "\n").utf8.prefix(2000)))
    }

    /// Returns what is wrong with the attempt's node; empty if none was recorded.
    package func nodeNotes() -> [String] {
        // The text is only shown.
        guard let bytes = try? readIfPresent(paths.nodeNotes, limit: 4096) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
    }

    /// Ends an attempt that no process has begun, so that none ever will.
    /// - Returns: `false` if a process has begun it.
    /// - Throws: `.directory`.
    package func endUnbegun(_ result: StatusEvent.Outcome, reason: String) throws(ExecutionError) -> Bool {
        guard try claim() else { return false }
        return try finishUnstarted(result, reason: reason)
    }

    /// Ends an attempt that this process has claimed, without a step.
    /// - Returns: `false` if a supervisor has started.
    /// - Throws: `.directory`.
    package func finishUnstarted(_ result: StatusEvent.Outcome, reason: String) throws(ExecutionError) -> Bool {
        let now = Int64(clamping: Date().timeIntervalSince1970 * 1000)
        let event = StatusEvent.finished(
            at: now, result: result, reason: String(reason.prefix(4000)), limit: nil, step: nil)
        return try createExclusively(paths.status, event.line() + [0x0A])
    }

    /// Creates a file that no other process can create, and brings it to the disk if it must outlive a loss of power.
    /// - Returns: `false` if it exists.
    func createExclusively(
        _ file: String, _ bytes: [UInt8], mode: UInt32 = 0o644, isSynchronized: Bool = true
    ) throws(ExecutionError) -> Bool {
        let descriptor = clinux_open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else {
            if errno == EEXIST { return false }
            throw failure("create \(file)", errno)
        }
        defer { close(descriptor) }
        let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard written == bytes.count, !isSynchronized || fsync(descriptor) == 0 else {
            let number = written < 0 || written == bytes.count ? errno : ENOSPC
            // Nothing relies on it yet.
            unlink(file)
            throw failure("write \(file)", number)
        }
        return true
    }
}
