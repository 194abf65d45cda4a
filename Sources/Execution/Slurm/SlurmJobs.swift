import Basics

/// A job as Slurm lists it.
struct SlurmJob: Sendable, Hashable {
    /// Its number, for messages alone: after a restart of the controller another job can have it.
    var number: Int
    /// The state in Slurm's word (squeue(1), JOB STATE CODES): `PENDING`, `NODE_FAIL`.
    var state: String
    /// Why it waits or how it failed: `Resources`, `NonZeroExitCode`.
    var reason: String
    /// The node; empty while it waits.
    var node: String
    /// The name that we gave it, one for each attempt.
    var name: String

    /// The states of jobs that run no more and never will (squeue(1), 22.05).
    private static let ends: Set<String> = [
        "BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED",
        "REVOKED", "SPECIAL_EXIT", "TIMEOUT",
    ]

    var hasEnded: Bool { Self.ends.contains(state) }
    var isPending: Bool { state == "PENDING" }

    /// Why it waits: Slurm's word, with what to do where the operator has to do something.
    var waitingReason: String {
        let advice: [String: String] = [
            "PartitionDown": "the partition starts no jobs; `scontrol update PartitionName=NAME State=UP` opens it",
            "PartitionInactive": "the partition takes no jobs; `scontrol update PartitionName=NAME State=UP` opens it",
            "PartitionTimeLimit": "the job asks for more `time` than the partition allows",
            "PartitionNodeLimit": "the job asks for more than the partition's nodes have",
            "ReqNodeNotAvail":
                "the nodes that have what it needs take no jobs; `sinfo -R` and `martlet doctor` say why",
        ]
        if reason == "None" { return "Pending" }
        // Slurm adds the nodes' names to some: `ReqNodeNotAvail, UnavailableNodes:n2`.
        return advice[String(reason.prefix { $0 != "," })].map { "\(reason): \($0)" } ?? reason
    }

    /// The columns that `init(line:)` reads. The name is the last, and no column before it contains a bar.
    static let format = "%A|%T|%r|%N|%j"

    /// Parses a line of `squeue`; `nil` for other text.
    init?(line: some StringProtocol) {
        let fields = line.split(separator: "|", maxSplits: 4, omittingEmptySubsequences: false)
        guard fields.count == 5, let number = Int(fields[0]) else { return nil }
        self.number = number
        (state, reason) = (String(fields[1]), String(fields[2]))
        (node, name) = (String(fields[3]), String(fields[4]))
    }

    /// How much an ended job says about its attempt. Of two jobs of one attempt, one begins it. The other is canceled before that, or fails at once.
    private var weight: Int {
        switch state {
        case "FAILED": 1
        case "COMPLETED": 2
        case "CANCELLED": node.isEmpty ? 0 : 3
        default: 3
        }
    }

    private var rank: Int { hasEnded ? weight : isPending ? 4 : 5 }

    /// Returns our jobs in the output of `squeue`, by name. If several have one name, as after the controller has forgotten one, one that runs is
    /// taken before one that waits, that before one that has ended, and of ended ones the one that says most.
    static func jobs(in output: String) -> [String: SlurmJob] {
        var jobs: [String: SlurmJob] = [:]
        for line in output.split(whereSeparator: \.isNewline) {
            guard let job = SlurmJob(line: line), job.name.hasPrefix(SlurmExecutor.namePrefix) else { continue }
            if let other = jobs[job.name] {
                let (rank, otherRank) = (job.rank, other.rank)
                guard rank == otherRank ? job.number > other.number : rank > otherRank else { continue }
            }
            jobs[job.name] = job
        }
        return jobs
    }
}

/// The jobs of the daemon's user in Slurm's queue, also those that ended a while ago (`MinJobAge`, slurm.conf(5)). All attempts share one answer.
actor SlurmJobs {
    private let program: SlurmProgram
    private let interval: Duration
    private var known: (jobs: [String: SlurmJob], at: ContinuousClock.Instant)?
    private var failure: (error: ExecutionError, at: ContinuousClock.Instant)?
    /// The question that is being asked, and its number.
    private var asking: (number: Int, task: Task<Result<[String: SlurmJob], ExecutionError>, Never>)?
    private var count = 0

    /// - Parameter interval: How long an answer is used.
    init(program: SlurmProgram, interval: Duration) { (self.program, self.interval) = (program, interval) }

    /// Returns our jobs by name, as of a moment ago.
    /// - Throws: `.noLauncher` if the controller does not answer.
    func recent() async throws(ExecutionError) -> [String: SlurmJob] {
        let now = ContinuousClock.now
        if let known, now - known.at < interval { return known.jobs }
        if let failure, now - failure.at < interval { throw failure.error }
        if let asking { return try await asking.task.value.get() }
        return try await ask()
    }

    /// Returns our jobs by name, as of after this call.
    /// - Throws: `.noLauncher` if the controller does not answer.
    func fresh() async throws(ExecutionError) -> [String: SlurmJob] {
        let before = count
        // An answer that is on its way may be older than this call.
        if let asking { _ = await asking.task.value }
        // Another call that has waited for it, too, has asked meanwhile.
        if let asking, asking.number > before { return try await asking.task.value.get() }
        return try await ask()
    }

    /// Has the next call of `recent` ask again, because a job was handed to Slurm.
    func expire() { (known, failure) = (nil, nil) }

    private func ask() async throws(ExecutionError) -> [String: SlurmJob] {
        count += 1
        let (number, program) = (count, program)
        let task = Task { () -> Result<[String: SlurmJob], ExecutionError> in
            do throws(ExecutionError) {
                let output = try await program.run(
                    "squeue", ["--noheader", "--me", "--states=all", "--format=\(SlurmJob.format)"])
                return .success(SlurmJob.jobs(in: output))
            } catch {
                return .failure(error)
            }
        }
        asking = (number, task)
        let result = await task.value
        if asking?.number == number { asking = nil }
        switch result {
        case .success(let jobs): (known, failure) = ((jobs, .now), nil)
        case .failure(let error): (known, failure) = (nil, (error, .now))
        }
        return try result.get()
    }
}
