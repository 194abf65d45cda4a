import Basics
import Foundation
import Glibc
import JobProtocol
package import Model

/// An executor for jobs on a cluster that Slurm manages.
///
/// The job directory is on a file system that the daemon and the nodes see under one path. Slurm starts one process for an attempt, which becomes its
/// supervisor. What counts is what that process writes; Slurm is asked only for attempts that have no process yet, or none any more.
///
/// Slurm gives job numbers again, forgets jobs that it has accepted, and runs a job on after it has reported the job's end. So a job is known by its
/// name alone, which only one attempt has, and an attempt is begun by the one process that creates its file `node`
/// (docs/internals/decisions/0090-jobs-on-slurm.md).
package struct SlurmExecutor: Executor {
    /// The cluster as the settings describe it.
    package struct Cluster: Sendable {
        /// The executor's name in the settings.
        package var name: Name
        /// The partition; `nil` for the cluster's own default.
        package var partition: String?
        package var account: String?
        /// Further options of `sbatch`.
        package var options: [String]
        /// How long a job may wait at the cluster.
        package var longestWait: Duration
        /// The command that begins an attempt on a node; the attempt's directory is added as its last argument.
        package var command: [String]
        /// Variables for Slurm's commands, such as `SLURM_CONF`, in addition to the daemon's own.
        package var environment: [String: String]

        package init(
            name: Name, partition: String? = nil, account: String? = nil, options: [String] = [],
            longestWait: Duration = .seconds(86_400), command: [String], environment: [String: String] = [:]
        ) {
            self.name = name
            self.partition = partition
            self.account = account
            self.options = options
            self.longestWait = longestWait
            self.command = command
            self.environment = environment
        }
    }

    /// How long the executor waits before it concludes something.
    package struct Patience: Sendable {
        /// How long Slurm's list of jobs is used before it is asked again.
        package var answer = Duration.seconds(1)
        /// Without a new heartbeat for this time, a process on another machine is gone. It beats every two seconds.
        package var heartbeat = Duration.seconds(30)
        /// How long a job must have ended at Slurm, or be unknown there, without a trace of its process. A shared file system shows new files late.
        package var silence = Duration.seconds(10)
        /// How long a job waits for the node with its workspace alone. A build from scratch takes longer than this where it matters.
        package var warm = Duration.seconds(30)
        /// How much longer than its grace a canceled job may take before Slurm kills it.
        package var kill = Duration.seconds(30)

        package init() {}
    }

    /// The prefix of our jobs' names.
    static let namePrefix = "martlet-"

    let cluster: Cluster
    let patience: Patience
    let program: SlurmProgram
    let jobs: SlurmJobs
    let heartbeats: Heartbeats
    let waits = SlurmWaits()
    private let offers: SlurmOffers

    package init(_ cluster: Cluster, patience: Patience = Patience()) {
        (self.cluster, self.patience) = (cluster, patience)
        program = SlurmProgram(environment: cluster.environment)
        jobs = SlurmJobs(program: program, interval: patience.answer)
        heartbeats = Heartbeats(patience: patience.heartbeat)
        offers = SlurmOffers(program: program, partition: cluster.partition)
    }

    /// Returns the kinds of nodes that the cluster has, also those that are busy or down; `nil` if it does not answer now.
    package func machines() async -> [MachineOffer]? { await offers.recent() }

    /// Returns the name of an attempt's job: `martlet-kit-14-debug-1-0123456789abcdef`. The digits are of the whole path, so that no two attempts of
    /// any daemon have one name.
    package static func jobName(of attempt: AttemptDirectory) -> String {
        let words = attempt.path.split(separator: "/").suffix(4).joined(separator: "-")
        let plain = words.unicodeScalars.map { scalar -> Character in
            let isPlain =
                scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789._-".unicodeScalars.contains(scalar))
            return isPlain ? Character(scalar) : "_"
        }
        return namePrefix + String(plain.prefix(80)) + "-" + Digest.sha256(of: Array(attempt.path.utf8)).prefix(16)
    }

    /// Hands a job to Slurm; see `Executor`. If an earlier call may have done so, Slurm's queue is asked first.
    /// - Parameter secrets: They are not passed to Slurm: the node fetches them with the attempt's token. Only their size is checked here.
    /// - Throws: `.noLauncher` if the controller does not answer; `.notStarted` if it refuses the job; `.overLimit` for too large secrets.
    package func start(_ attempt: AttemptDirectory, secrets: [String: String]) async throws(ExecutionError) {
        try LocalExecutor.checkSize(of: LaunchRequest(attempt: attempt.path, secrets: secrets))
        guard try await isUnbegun(attempt) else { return }
        guard access(attempt.paths.job, F_OK) == 0 else {
            throw ExecutionError(.notFound, "start \(attempt.path)", "the attempt was not prepared")
        }
        let name = Self.jobName(of: attempt)
        let isFirst = try await SerialQueue(label: "slurm").run { () throws(ExecutionError) in
            try attempt.createExclusively(attempt.paths.submitting, [], isSynchronized: false)
        }
        if !isFirst,
            let job = try await jobs.fresh()[name], !job.hasEnded || access(attempt.paths.submitted, F_OK) == 0
        {
            return try await recordSubmission(of: attempt)
        }
        try await submit(attempt, name, isAnywhere: false)
    }

    /// Whether no process has begun the attempt.
    func isUnbegun(_ attempt: AttemptDirectory) async throws(ExecutionError) -> Bool {
        try await SerialQueue(label: "slurm").run { () throws(ExecutionError) in
            let liveness = try attempt.liveness()
            let claimant = try attempt.claimant()
            return liveness == .notStarted && claimant == nil
        }
    }

    /// - Parameter isAnywhere: Whether the job may run on every node, not just on the one with its workspace.
    func submit(
        _ attempt: AttemptDirectory, _ name: String, isAnywhere: Bool = true
    ) async throws(ExecutionError) {
        let placement = try await SerialQueue(label: "slurm").run { () throws(ExecutionError) in
            try attempt.placement()
        }
        let needs = placement?.needs ?? JobNeeds()
        if !isAnywhere, let node = placement?.warmNode {
            // A node that the cluster no longer has, or that lacks what the recipe needs now, is refused.
            if (try? await program.run("sbatch", arguments(for: attempt, name, needs, node: node))) != nil {
                await jobs.expire()
                return try await recordSubmission(of: attempt)
            }
        }
        do throws(ExecutionError) {
            _ = try await program.run("sbatch", arguments(for: attempt, name, needs))
        } catch {
            // An answer can be lost although the job was accepted.
            let known = try await jobs.fresh()[name]
            guard let known, !known.hasEnded else {
                throw ExecutionError(
                    .notStarted, "hand the job to the executor \(cluster.name)", error.message, underlying: error)
            }
        }
        await jobs.expire()
        try await recordSubmission(of: attempt)
    }

    private func recordSubmission(of attempt: AttemptDirectory) async throws(ExecutionError) {
        let now = Int64(clamping: Date().timeIntervalSince1970 * 1000)
        _ = try await SerialQueue(label: "slurm").run { () throws(ExecutionError) in
            try attempt.createExclusively(attempt.paths.submitted, Array("\(now)\n".utf8))
        }
    }

    /// Returns the arguments of `sbatch`. Nothing of the daemon's environment and no secret is among them, because Slurm keeps and shows them.
    /// - Parameter node: The only node on which it may run; `nil` for every node that has what it needs.
    func arguments(
        for attempt: AttemptDirectory, _ name: String, _ needs: JobNeeds, node: String? = nil
    ) -> [String] {
        var arguments = [
            "--parsable", "--no-requeue", "--job-name=\(name)", "--comment=\(attempt.path)", "--chdir=/",
            "--output=/dev/null", "--error=/dev/null", "--export=NIL", "--nodes=1", "--ntasks=1",
        ]
        if let partition = cluster.partition { arguments.append("--partition=\(partition)") }
        if let account = cluster.account { arguments.append("--account=\(account)") }
        if let node { arguments.append("--nodelist=\(node)") }
        if let cpus = needs.cpus { arguments.append("--cpus-per-task=\(cpus)") }
        if let memory = needs.memory { arguments.append("--mem=\((memory.bytes + 1023) >> 10)K") }
        if !needs.features.isEmpty { arguments.append("--constraint=\(needs.features.joined(separator: "&"))") }
        if let time = needs.time { arguments.append("--time=\(max(1, (time.components.seconds + 59) / 60))") }
        let words = (cluster.command + [attempt.path]).map { "'" + $0.replacing("'", with: "'\\''") + "'" }
        return arguments + cluster.options + ["--wrap=exec \(words.joined(separator: " "))"]
    }

    /// Waits until the controller answers; see `Executor`. Its next list then has every job that it accepted.
    package func settle(_ attempt: AttemptDirectory) async throws(ExecutionError) {
        guard try await isUnbegun(attempt) else { return }
        guard let job = try await jobs.fresh()[Self.jobName(of: attempt)], !job.hasEnded else { return }
        try await recordSubmission(of: attempt)
    }

    /// Asks a job to end; see `Executor`. A job that waits ends at once, also if the controller does not answer: it can no longer begin.
    package func cancel(
        _ attempt: AttemptDirectory, reason: String, grace: Duration
    ) async throws(ExecutionError) {
        let isEnded = try await SerialQueue(label: "slurm").run { () throws(ExecutionError) in
            try attempt.writeCancel(reason: reason, grace: grace)
            if try attempt.endUnbegun(.canceled, reason: reason) { return true }
            return try attempt.liveness() == .finished
        }
        let name = Self.jobName(of: attempt)
        if isEnded {
            // It ends by itself if Slurm starts it all the same.
            _ = try? await program.run("scancel", ["--quiet", "--me", "--jobname=\(name)"])
            return
        }
        await waits.cancel(attempt.path, grace: grace)
        // The supervisor alone gets the signal, and it keeps the job's own grace. A usual scancel has the cluster's (`KillWait`).
        _ = try await program.run(
            "scancel", ["--quiet", "--me", "--jobname=\(name)", "--batch", "--signal=TERM"])
    }
}
