import Basics
import Execution
import Foundation
import Glibc
import Model
import Settings

extension Doctor {
    /// How long a job of the doctor may wait at a cluster and run.
    private static let patience = Duration.seconds(60)
    /// By how much a node's clock may differ. Cancellations and deadlines are not compared between machines; times on pages are.
    private static let clockTolerance = 5.0

    /// Tries each cluster of the settings with a small job.
    /// - Returns: For each, its name, and what is wrong or what works.
    static func executors(_ settings: ServiceSettings) async -> [(name: Name, trouble: String?, fine: String)] {
        var found: [(name: Name, trouble: String?, fine: String)] = []
        for executor in settings.executors {
            guard let slurm = executor.slurm else { continue }
            do {
                found.append((executor.name, nil, try await check(executor.name, slurm, settings)))
            } catch {
                found.append((executor.name, "\(error)", ""))
            }
        }
        return found
    }

    private static func check(
        _ name: Name, _ slurm: SlurmSettings, _ settings: ServiceSettings
    ) async throws -> String {
        let missing = SlurmExecutor.programs.filter { find($0) == nil }
        guard missing.isEmpty else {
            throw Failure(
                .no, "\(missing.joined(separator: ", ")) not in PATH; install Slurm's commands (Debian: slurm-client)")
        }
        guard let cluster = try Clusters.executors(settings)[name] else { return "" }
        guard let machines = await cluster.machines() else {
            throw Failure(.no, "the controller does not answer; `sinfo` says why (slurmctld, munge, SLURM_CONF)")
        }
        guard !machines.isEmpty else {
            throw Failure(.no, "the partition \(slurm.partition ?? "") has no node; `sinfo` lists the partitions")
        }
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let file = "\(settings.state)/doctor-\(RandomIdentifiers().next())"
        let before = Date().timeIntervalSince1970
        let bytes = try await cluster.probe(
            [own, NodeProbe.name, "--work", slurm.work], answer: file, limit: patience)
        let after = Date().timeIntervalSince1970
        let answer = try JSONDecoder().decode(NodeProbe.Answer.self, from: Data(bytes))
        let time = Double(answer.milliseconds) / 1000
        let difference = time < before ? before - time : max(0, time - after)
        var troubles: [String] = []
        if answer.version != Martlet.version {
            troubles.append("it has Martlet \(answer.version), and this is \(Martlet.version); install the same")
        }
        if difference > clockTolerance {
            troubles.append("its clock differs by \(Int64(clamping: difference)) s; set both by NTP")
        }
        if let work = answer.work { troubles.append("no workspace can be made there: \(work)") }
        if let sandbox = answer.sandbox, settings.isolation != ServiceSettings.Isolation.none {
            troubles.append("the sandbox cannot work there: \(sandbox)")
        }
        guard troubles.isEmpty else {
            throw Failure(.no, Output.visible("the node \(answer.host): \(troubles.joined(separator: "; "))"))
        }
        let nodes = "the node \(answer.host) sees \(slurm.shared), has the same version and time"
        return Output.visible(nodes + (answer.sandbox == nil ? ", and the sandbox works there" : ""))
    }
}
