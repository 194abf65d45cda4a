import Model

/// What the executor waits for, by the attempt's directory. It is all found out again after a restart.
actor SlurmWaits {
    private var since: [String: ContinuousClock.Instant] = [:]
    private var widened: Set<String> = []
    private var deadlines: [String: (grace: Duration, since: ContinuousClock.Instant)] = [:]

    /// Returns how long a condition has held, and starts counting at its first call.
    func silence(of attempt: String) -> Duration {
        let now = ContinuousClock.now
        guard let begun = since[attempt] else {
            since[attempt] = now
            return .zero
        }
        return now - begun
    }

    /// Stops counting, because the condition no longer holds.
    func end(of attempt: String) { since[attempt] = nil }

    /// Whether an attempt's job is to be handed over a second time. True once, until `allowWidening`.
    func mayWiden(_ attempt: String) -> Bool { widened.insert(attempt).inserted }

    /// Lets an attempt's job be handed over again, because Slurm did not accept it.
    func allowWidening(_ attempt: String) { widened.remove(attempt) }

    /// Whether an attempt's job was handed over a second time. True once.
    func endWidening(_ attempt: String) -> Bool { widened.remove(attempt) != nil }

    /// Records a request to end an attempt.
    func cancel(_ attempt: String, grace: Duration) { deadlines[attempt] = (grace, .now) }

    /// Whether a request to end an attempt is overdue by `patience`. True once for each request.
    func isOverdue(_ attempt: String, _ patience: Duration) -> Bool {
        guard let (grace, since) = deadlines[attempt], ContinuousClock.now - since > grace + patience else {
            return false
        }
        deadlines[attempt] = nil
        return true
    }

    /// Forgets an attempt that has ended.
    func forget(_ attempt: String) {
        (since[attempt], deadlines[attempt]) = (nil, nil)
        widened.remove(attempt)
    }
}

/// The kinds of nodes of a partition.
actor SlurmOffers {
    private let program: SlurmProgram
    private let partition: String?
    private var known: (machines: [MachineOffer], at: ContinuousClock.Instant)?
    /// The question that is being asked, which all callers share.
    private var asking: Task<[MachineOffer]?, Never>?
    /// How long an answer is used: nodes change rarely.
    private static let interval = Duration.seconds(60)

    init(program: SlurmProgram, partition: String?) { (self.program, self.partition) = (program, partition) }

    /// Returns the kinds of nodes; `nil` if the cluster does not answer.
    func recent() async -> [MachineOffer]? {
        if let known, ContinuousClock.now - known.at < Self.interval { return known.machines }
        if let asking { return await asking.value }
        let arguments = ["--noheader", "--format=%c|%m|%f"] + (partition.map { ["--partition=\($0)"] } ?? [])
        let program = program
        let task = Task { () -> [MachineOffer]? in
            guard let output = try? await program.run("sinfo", arguments) else { return nil }
            return Self.machines(in: output)
        }
        asking = task
        let machines = await task.value
        asking = nil
        if let machines { known = (machines, .now) }
        return machines
    }

    /// Parses the lines of `sinfo`: processors, megabytes, features separated by commas. A `+` after a number means that some nodes have more.
    static func machines(in output: String) -> [MachineOffer] {
        output.split(whereSeparator: \.isNewline).compactMap { line in
            let fields = line.split(separator: "|", omittingEmptySubsequences: false)
            guard fields.count == 3, let cpus = Int(fields[0].filter { $0 != "+" }),
                let megabytes = Int64(fields[1].filter { $0 != "+" }), megabytes < 1 << 40
            else { return nil }
            let features = fields[2] == "(null)" ? [] : Set(fields[2].split(separator: ",").map(String.init))
            return MachineOffer(cpus: cpus, memory: .mebibytes(megabytes), features: features)
        }
    }
}
