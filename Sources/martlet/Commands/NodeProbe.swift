import ArgumentParser
import Basics
import Execution
import Foundation
import JobProtocol
import Model
import Settings
import Transfer

/// The command `martlet node-probe`: says what a node of a cluster is like. `martlet doctor` has Slurm run it.
struct NodeProbe: AsyncParsableCommand {
    static let name = "node-probe"

    static let configuration = CommandConfiguration(
        commandName: name, abstract: "Says what a node of a cluster is like. `martlet doctor` has Slurm run it.",
        shouldDisplay: false)

    @Option(help: "The directory for workspaces, which is made if it does not exist.")
    var work: String

    @Option(help: "The service's address, which is tried.")
    var url: String?

    @Option(help: "A file of the certificates to trust in place of the machine's.")
    var certificates: String?

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
        /// Why the service's address does not answer there; `nil` if it does, or was not asked.
        var url: String?
    }

    /// Returns why the service's address cannot be used on this machine; `nil` if it can. Each status is an answer.
    private func trouble(with url: String) async -> String? {
        var request = TransferRequest(.get, url + "/health")
        request.certificateAuthorities = certificates
        request.limits = TransferLimits(total: .seconds(20), stall: .seconds(20), response: 1 << 20)
        do throws(TransferError) {
            _ = try await CurlTransport().perform(request)
            return nil
        } catch {
            let remedy = error.code == .certificate ? "; \(NodeSecrets.remedy)" : ""
            return "\(url): \(error.message)\(remedy)"
        }
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
            if let url { said.url = await trouble(with: url) }
            try AtomicFile.write(Array(JSONEncoder().encode(said)), to: answer, mode: 0o600)
        }
    }
}
