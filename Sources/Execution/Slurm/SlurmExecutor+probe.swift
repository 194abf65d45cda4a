import Basics
import Glibc
import Model

extension SlurmExecutor {
    /// The commands of Slurm that an executor needs.
    package static let programs = ["sbatch", "squeue", "scancel", "sinfo"]

    /// A node of the cluster.
    package struct Node: Sendable, Hashable {
        package var name: String
        /// Slurm's word for its state (sinfo(1), NODE STATE CODES): `idle`, `down*`, `drained`.
        package var state: String
        /// Why it takes no jobs: the operator's words, or Slurm's own; `nil` if none are known.
        package var reason: String?

        /// The state, with its reason: `drained (SlurmdSpoolDir is full)`.
        package var condition: String { reason.map { "\(state) (\($0))" } ?? state }

        /// Whether Slurm starts no job there.
        package var isUnavailable: Bool {
            ["down", "drain", "fail", "maint", "power", "unk"].contains { state.lowercased().contains($0) }
        }
    }

    /// Returns the nodes of the partition, and whether the partition starts jobs.
    /// - Throws: `.noLauncher` if the controller does not answer.
    package func nodes() async throws(ExecutionError) -> (nodes: [Node], isOpen: Bool) {
        let place = cluster.partition.map { ["--partition=\($0)"] } ?? []
        let output = try await program.run("sinfo", ["--noheader", "--Node", "--format=%N|%T|%a|%P|%E"] + place)
        return Self.nodes(in: output, isDefault: cluster.partition == nil)
    }

    /// Parses the lines of `sinfo`: node, state, `up` or another word, the partition with `*` after the cluster's own default, and the
    /// reason, or `none`.
    static func nodes(in output: String, isDefault: Bool) -> (nodes: [Node], isOpen: Bool) {
        var (nodes, isOpen): ([Node], Bool) = ([], true)
        for line in output.split(whereSeparator: \.isNewline) {
            let fields = line.split(separator: "|", maxSplits: 4, omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 5, !isDefault || fields[3].hasSuffix("*") else { continue }
            isOpen = isOpen && fields[2] == "up"
            if !nodes.contains(where: { $0.name == fields[0] }) {
                let reason = ["", "none"].contains(fields[4].lowercased()) ? nil : String(fields[4].prefix(200))
                nodes.append(Node(name: fields[0], state: fields[1], reason: reason))
            }
        }
        return (nodes, isOpen)
    }

    /// Runs a command on a node, as a job of its own, and returns what it writes into a file.
    /// - Parameters:
    ///   - command: The command. It creates the file, all at once.
    ///   - answer: The absolute path of the file, which the node sees at the same path. It must not exist, and is removed.
    ///   - limit: How long the job may wait and run.
    ///   - node: The node; `nil` for any.
    /// - Throws: `.noLauncher` if the controller does not answer or refuses the job; `.notStarted` if the job ends without
    ///   the file, or takes too long.
    package func probe(
        _ command: [String], answer: String, limit: Duration, node: String? = nil
    ) async throws(ExecutionError) -> [UInt8] {
        let name = "\(Self.namePrefix)probe-\(RandomIdentifiers().next())"
        var probe = self.cluster
        probe.command = command
        if let node { probe.options.append("--nodelist=\(node)") }
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
