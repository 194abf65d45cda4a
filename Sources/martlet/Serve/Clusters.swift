import Execution
import Foundation
import Model
import Settings

/// The clusters of the settings.
enum Clusters {
    /// Returns an executor for each cluster, by its name.
    /// - Throws: `Failure` if this program's own path is unknown, which is what the nodes run.
    static func executors(_ settings: ServiceSettings) throws -> [Name: SlurmExecutor] {
        var clusters: [Name: SlurmExecutor] = [:]
        for executor in settings.executors {
            guard let slurm = executor.slurm else { continue }
            let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            clusters[executor.name] = SlurmExecutor(
                SlurmExecutor.Cluster(
                    name: executor.name, partition: slurm.partition, account: slurm.account, options: slurm.options,
                    longestWait: slurm.wait,
                    command: [own, NodeJob.name, "--daemon-version", Martlet.version, "--attempt"]))
        }
        return clusters
    }
}
