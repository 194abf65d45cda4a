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
        let (nodes, isOpen) = try await cluster.nodes()
        guard isOpen else {
            let partition = slurm.partition.map { "the partition \($0)" } ?? "the default partition"
            throw Failure(.no, "\(partition) starts no jobs; `scontrol update PartitionName=… State=UP` opens it")
        }
        if let secrets = settings.secrets, isInside(secrets, slurm.shared) {
            throw Failure(
                .no,
                "each node reads the secrets in \(secrets), which is in the shared directory; move them, and set `secrets`"
            )
        }
        let tried = nodes.filter { !$0.isUnavailable }.prefix(maximumNodes)
        guard !tried.isEmpty else {
            let states = nodes.map { "\($0.name) is \($0.condition)" }.joined(separator: ", ")
            throw Failure(.no, Output.visible("no node takes jobs: \(states); `sinfo -R` says why"))
        }
        let troubles = await withTaskGroup(of: String?.self) { group -> [String] in
            for node in tried {
                group.addTask { await trouble(of: node.name, at: cluster, slurm, settings) }
            }
            var troubles: [String] = []
            for await trouble in group { troubles += [trouble].compactMap(\.self) }
            return troubles
        }
        guard troubles.isEmpty else { throw Failure(.no, Output.visible(troubles.sorted().joined(separator: "; "))) }
        let names = tried.map(\.name).sorted().joined(separator: ", ")
        let left = nodes.filter(\.isUnavailable).map { "; \($0.name) is \($0.condition)" }.joined()
        let sandbox = settings.isolation == ServiceSettings.Isolation.none ? "" : ", and the sandbox works there"
        return Output.visible("\(names): \(slurm.shared) is seen, version and time are the same\(sandbox)\(left)")
    }

    /// The most nodes that are tried. Each is asked by a job of its own, at the same time.
    private static let maximumNodes = 16

    private static func isInside(_ path: String, _ directory: String) -> Bool {
        path == directory || path.hasPrefix(directory + "/")
    }

    /// Returns what is wrong with a node; `nil` if jobs can run there.
    private static func trouble(
        of node: String, at cluster: SlurmExecutor, _ slurm: SlurmSettings, _ settings: ServiceSettings
    ) async -> String? {
        do {
            let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            let file = "\(settings.state)/doctor-\(RandomIdentifiers().next())"
            let before = Date().timeIntervalSince1970
            var command = [own, NodeProbe.name, "--work", slurm.work]
            // Over http no secret is fetched by another machine.
            if let url = settings.url, url.lowercased().hasPrefix("https://") {
                command += ["--url", url]
                if let certificates = SecretToken.trustedCertificates() {
                    try AtomicFile.write(Array(certificates.utf8), to: file + ".pem")
                    command += ["--certificates", file + ".pem"]
                }
            }
            defer { unlink(file + ".pem") }
            let bytes = try await cluster.probe(command, answer: file, limit: patience, node: node)
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
            if let url = answer.url { troubles.append("no secrets can be fetched there from \(url)") }
            return troubles.isEmpty ? nil : "the node \(node): \(troubles.joined(separator: "; "))"
        } catch {
            return "the node \(node): \(error)"
        }
    }
}
