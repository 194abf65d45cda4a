import ArgumentParser
import Basics
import CLinux
import Execution
import Foundation
import Glibc
import JobProtocol
import Jobs
import Model
import SourceControl

/// The command `martlet node-job`: begins an attempt on a node of a cluster. Slurm starts it, and it becomes the attempt's supervisor.
struct NodeJob: AsyncParsableCommand {
    static let name = "node-job"

    static let configuration = CommandConfiguration(
        commandName: name, abstract: "Begins a job on a node of a cluster. The daemon has Slurm run it.",
        shouldDisplay: false)

    @Option(help: "The daemon's version. A node with another one runs nothing.")
    var daemonVersion: String

    @Option(help: "The directory of the attempt.")
    var attempt: String

    func run() async throws { try await Order(daemonVersion: daemonVersion, attempt: attempt).run() }
}

extension NodeJob {
    /// What the daemon has a node begin.
    struct Order {
        var daemonVersion: String
        var attempt: String
    }
}

extension NodeJob.Order {
    /// Reads the daemon's own command line, without the parser of all commands: that would take a quarter of the program's start, for each job.
    /// - Parameter arguments: Those of the program. `nil` if they are not exactly what the daemon writes.
    init?(_ arguments: [String]) {
        guard arguments.count == 5, arguments[0] == NodeJob.name, arguments[1] == "--daemon-version",
            arguments[3] == "--attempt"
        else { return nil }
        (daemonVersion, attempt) = (arguments[2], arguments[4])
    }

    /// By how many seconds a node's clock may differ from that of the shared file system. Times on pages are then wrong, and nothing else.
    private static let clockTolerance = 60.0

    /// Begins the attempt on this node, and becomes its supervisor.
    func run() async throws {
        try await Failure.exiting {
            guard attempt.hasPrefix("/") else { throw Failure(.usage, "--attempt is an absolute path") }
            // A request to end the job is left to the supervisor, which reads the reason and the grace.
            guard clinux_block_termination() == 0 else { throw Failure(.unavailable, "signals cannot be blocked") }
            let directory = AttemptDirectory(path: attempt)
            let paths = directory.paths
            do throws(ExecutionError) {
                guard try directory.claim() else {
                    // EX_TEMPFAIL, as the supervisor's own answer.
                    Foundation.exit(75)
                }
            } catch {
                throw Failure(.cannotCreate, "\(error)")
            }
            try check(directory)
            _ = clinux_begin_heartbeat(paths.heartbeat, paths.loss, AttemptPaths.heartbeatMilliseconds)
            let supervisor = try OwnPrograms.supervisor()
            var words = [supervisor, "--attempt", attempt]
            do {
                guard try await NodeCheckout(directory).run() else {
                    throw NodeSecrets.Refusal(
                        outcome: .canceled, reason: NodeSecrets.cancellation(of: directory) ?? "canceled")
                }
                if let secrets = try await NodeSecrets(attempt: directory).fetch() {
                    words += ["--secrets-from", "\(secrets)"]
                }
            } catch let error as NodeSecrets.Refusal {
                try end(directory, error.reason, error.outcome, isCheckout: false)
                throw Failure(.unavailable, error.reason)
            } catch {
                try end(directory, "\(error)", isCheckout: error is SourceControlError)
                throw Failure(.unavailable, "\(error)")
            }
            var arguments: [UnsafeMutablePointer<CChar>?] = words.map { word in strdup(word) }
            arguments.append(nil)
            execv(supervisor, arguments)
            let reason = "start \(supervisor) failed: \(String(cString: strerror(errno)))"
            try end(directory, reason, isCheckout: false)
            throw Failure(.unavailable, reason)
        }
    }

    /// Refuses to begin an attempt of a daemon of another version, and notes what else is wrong with this node.
    private func check(_ directory: AttemptDirectory) throws {
        let host = LockContent.currentHost() ?? "the node"
        guard daemonVersion == Martlet.version else {
            let reason =
                "\(host) has Martlet \(Martlet.version), and the daemon is \(daemonVersion); install the same there"
            try directory.giveUp(reason)
            throw Failure(.unavailable, reason)
        }
        guard let lead = directory.clockLead(), abs(lead) > Self.clockTolerance else { return }
        let word = lead > 0 ? "ahead of" : "behind"
        try directory.recordNodeNotes([
            "the clock of \(host) is \(Int64(clamping: abs(lead))) s \(word) that of the shared directory, so the times of its steps are wrong; "
                + "set both by NTP"
        ])
    }

    /// Writes the end of an attempt that could not be begun here.
    private func end(
        _ directory: AttemptDirectory, _ reason: String, _ outcome: StatusEvent.Outcome = .faulty, isCheckout: Bool
    ) throws {
        if outcome == .canceled {
            _ = try directory.finishUnstarted(outcome, reason: reason)
            return
        }
        let host = LockContent.currentHost().map { "on the node \($0): " } ?? ""
        // Another attempt may succeed.
        if outcome == .interrupted { return try directory.giveUp(host + reason) }
        if isCheckout {
            try AtomicFile.write(Array((host + reason).utf8), to: directory.paths.checkoutError)
        }
        _ = try directory.finishUnstarted(outcome, reason: host + reason)
    }
}
