import Basics
import Glibc
import Model

extension SlurmExecutor {
    /// The commands of Slurm that an executor needs.
    package static let programs = ["sbatch", "squeue", "scancel", "sinfo"]

    /// Runs a command on a node, as a job of its own, and returns what it writes into a file.
    /// - Parameters:
    ///   - command: The command. It creates the file, all at once.
    ///   - answer: The absolute path of the file, which the node sees at the same path. It must not exist, and is removed.
    ///   - limit: How long the job may wait and run.
    /// - Throws: `.noLauncher` if the controller does not answer or refuses the job; `.notStarted` if the job ends without
    ///   the file, or takes too long.
    package func probe(
        _ command: [String], answer: String, limit: Duration
    ) async throws(ExecutionError) -> [UInt8] {
        let name = "\(Self.namePrefix)probe-\(RandomIdentifiers().next())"
        var probe = self.cluster
        probe.command = command
        let attempt = AttemptDirectory(path: answer)
        let asking = SlurmExecutor(probe, patience: patience)
        _ = try await program.run("sbatch", asking.arguments(for: attempt, name, JobNeeds(time: .seconds(300))))
        let queue = SerialQueue(label: "probe")
        let deadline = ContinuousClock.now + limit
        var last: SlurmJob?
        while ContinuousClock.now < deadline {
            // The job is listed before the file is read, because the file is the older of the two if the job has ended.
            last = try await jobs.recent()[name] ?? last
            let bytes = await queue.run { () -> [UInt8]? in
                guard let bytes = try? WholeFile.read(answer, limit: 64 << 10) else { return nil }
                unlink(answer)
                return bytes
            }
            if let bytes { return bytes }
            if last?.hasEnded == true { break }
            // A canceled task ends with the limit's message.
            guard (try? await Task.sleep(for: .milliseconds(200))) != nil else { break }
        }
        _ = try? await program.run("scancel", ["--quiet", "--me", "--jobname=\(name)"])
        let place = last.flatMap { $0.node.isEmpty ? nil : " on \($0.node)" } ?? ""
        let reason =
            if let last, last.hasEnded {
                "the job ended\(place) without an answer: \(last.state) (\(last.reason)); see that the node has "
                    + "\(command.first ?? "the program") and may write \(answer)"
            } else {
                "the job has not run within \(limit): \(last?.state ?? "unknown") (\(last?.reason ?? "not listed"))"
            }
        throw ExecutionError(.notStarted, "run a job on the executor \(cluster.name)", reason)
    }
}
