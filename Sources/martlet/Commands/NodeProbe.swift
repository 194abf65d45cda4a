import ArgumentParser
import Basics
import Execution
import Foundation
import JobProtocol
import Model
import Settings

/// The command `martlet node-probe`: says what a node of a cluster is like. `martlet doctor` has Slurm run it.
struct NodeProbe: AsyncParsableCommand {
    static let name = "node-probe"

    static let configuration = CommandConfiguration(
        commandName: name, abstract: "Says what a node of a cluster is like. `martlet doctor` has Slurm run it.",
        shouldDisplay: false)

    @Option(help: "The directory for workspaces, which is made if it does not exist.")
    var work: String

    @Argument(help: "The file for the answer.")
    var answer: String

    /// What a node says.
    struct Answer: Codable {
        var host: String
        var version: String
        /// The node's time in milliseconds since the epoch.
        var milliseconds: Int64
        /// Why no workspace can be made; `nil` if one can.
        var work: String?
        /// Why the sandbox does not work; `nil` if it works.
        var sandbox: String?
    }

    func run() async throws {
        try await Failure.exiting {
            guard answer.hasPrefix("/"), work.hasPrefix("/") else { throw Failure(.usage, "paths are absolute") }
            var said = Answer(
                host: LockContent.currentHost() ?? "a node", version: Martlet.version,
                milliseconds: Int64(clamping: Date().timeIntervalSince1970 * 1000))
            do {
                _ = try Directory(creating: work, mode: 0o700)
            } catch {
                said.work = "\(error)"
            }
            do {
                let probe = SandboxProbe(supervisor: try OwnPrograms.supervisor(), launcher: nil)
                let finding = try await probe.find(pausing: ContinuousClock())
                if !finding.works { said.sandbox = finding.reason ?? "the probe gives no reason" }
            } catch {
                said.sandbox = "\(error)"
            }
            try AtomicFile.write(Array(JSONEncoder().encode(said)), to: answer, mode: 0o600)
        }
    }
}
