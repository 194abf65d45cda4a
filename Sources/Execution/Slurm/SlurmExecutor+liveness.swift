import Basics
import Foundation
import Glibc
import JobProtocol
import Model

extension SlurmExecutor {
    /// What is known of an attempt by its directory.
    private struct Traces: Sendable {
        var own: Liveness
        /// The process that has begun it.
        var claimant: LockContent?
        /// Whether its supervisor has certainly ended: it ran on this machine, and its lock is free.
        var isGone: Bool
        var isLost: Bool
    }

    private func traces(of attempt: AttemptDirectory) async throws(ExecutionError) -> Traces {
        try await SerialQueue(label: "slurm").run { () throws(ExecutionError) in
            let own = try attempt.liveness()
            let owner = own == .lost ? try attempt.lockOwner() : nil
            return Traces(
                own: own, claimant: try attempt.claimant(), isGone: owner?.isOfThisBoot ?? false,
                isLost: access(attempt.paths.loss, F_OK) == 0)
        }
    }

    /// Returns the state of an attempt: by what its process writes, and by Slurm's queue only if there is no such process. A controller that does not
    /// answer ends nothing.
    /// - Throws: `.directory`.
    package func liveness(of attempt: AttemptDirectory) async throws(ExecutionError) -> Liveness {
        let traces = try await traces(of: attempt)
        switch traces.own {
        case .finished:
            await forget(attempt)
            return .finished
        case .running, .waiting:
            await endOverdue(attempt)
            await withdrawSecond(of: attempt)
            return .running
        case .lost, .notStarted: break
        }
        if traces.isLost { return .lost }
        if traces.own == .notStarted, traces.claimant == nil { return try await livenessOfUnbegun(attempt) }
        if !traces.isGone, await heartbeats.isFresh(attempt) {
            await endOverdue(attempt)
            return .running
        }
        let job: SlurmJob?
        do throws(ExecutionError) {
            job = try await jobs.recent()[Self.jobName(of: attempt)]
        } catch {
            // Its process may be alive beyond a broken network.
            guard traces.isGone else { return .running }
            job = nil
        }
        // A job that Slurm still runs has a process, whatever became of its heartbeat.
        if !traces.isGone, let job, !job.hasEnded { return .running }
        // It may have written its last event since the traces were read.
        if try await self.traces(of: attempt).own == .finished { return .finished }
        return try await lose(attempt, on: traces.claimant?.host, job)
    }

    private func livenessOfUnbegun(_ attempt: AttemptDirectory) async throws(ExecutionError) -> Liveness {
        let name = Self.jobName(of: attempt)
        let submitted = await SerialQueue(label: "slurm").run {
            try? WholeFile.read(attempt.paths.submitted, limit: 64)
        }
        let job: SlurmJob?
        do throws(ExecutionError) {
            job = try await jobs.recent()[name]
        } catch {
            guard submitted != nil else { return .notStarted }
            return .waiting("the controller does not answer: \(error.message)")
        }
        if let job, !job.hasEnded {
            await waits.end(of: attempt.path)
            if let ended = try await endLate(attempt, submitted, job) { return ended }
            if job.isPending, try await widen(attempt, submitted, name) {
                return .waiting("it may run on every node now")
            }
            if job.isPending { return .waiting(job.waitingReason) }
            return .waiting(job.node.isEmpty ? "it is being started" : "it is being started on \(job.node)")
        }
        guard submitted != nil else { return .notStarted }
        // A shared file system can show the process's first file later than Slurm shows its end.
        guard await waits.silence(of: attempt.path) >= patience.silence else {
            return .waiting(job.map { "Slurm has ended it: \($0.state)" } ?? "Slurm does not list it")
        }
        guard try await isUnbegun(attempt) else { return .running }
        if let job {
            let place = job.node.isEmpty ? "" : " on \(job.node)"
            let reason =
                "Slurm ended the job\(place) before it began: \(job.state) (\(job.reason)); see that the node sees "
                + "\(attempt.path) and has \(cluster.command.first ?? "the program")"
            // Whatever Slurm meant by it, such as a number that it had given twice, one new attempt may follow.
            return try await SerialQueue(label: "slurm").run { () throws(ExecutionError) in
                guard try attempt.claim() else { return .running }
                _ = try attempt.createExclusively(attempt.paths.loss, Array("lost \(reason)\n".utf8))
                return .lost
            }
        }
        // The controller has lost the job that it had accepted. A second process of the same attempt would find that it has begun.
        await waits.end(of: attempt.path)
        guard try await jobs.fresh()[name] == nil else { return .waiting("Pending") }
        do throws(ExecutionError) {
            try await submit(attempt, name)
            return .waiting("it was handed to Slurm again, which had lost it")
        } catch {
            return .waiting("Slurm has lost it and does not take it again: \(error.message)")
        }
    }

    /// Hands a job over a second time, for every node, once it has waited long enough for the node with its workspace. Only one of the two begins the
    /// attempt. The job that Slurm has is not changed, because it could only be named by its number.
    /// - Returns: `false` if no job has to be given, or Slurm did not accept the job.
    private func widen(
        _ attempt: AttemptDirectory, _ submitted: [UInt8]?, _ name: String
    ) async throws(ExecutionError) -> Bool {
        let text = String(decoding: submitted ?? [], as: UTF8.self).filter { !$0.isWhitespace }
        guard let at = Int64(text),
            Date().timeIntervalSince1970 * 1000 - Double(at) > Double(patience.warm.milliseconds)
        else {
            return false
        }
        let node = try await SerialQueue(label: "slurm").run { () throws(ExecutionError) in
            try attempt.placement()?.warmNode
        }
        guard node != nil, await waits.mayWiden(attempt.path) else { return false }
        do throws(ExecutionError) {
            try await submit(attempt, name)
            return true
        } catch {
            await waits.allowWidening(attempt.path)
            return false
        }
    }

    /// Withdraws the job of a running attempt that was handed over a second time and still waits. It would end at once if it began.
    private func withdrawSecond(of attempt: AttemptDirectory) async {
        guard await waits.endWidening(attempt.path) else { return }
        let name = Self.jobName(of: attempt)
        // Without an answer the second job begins later, finds that the attempt has begun, and ends.
        _ = try? await program.run("scancel", ["--quiet", "--me", "--jobname=\(name)", "--state=PENDING"])
    }

    /// Ends an attempt that has waited at the cluster for too long.
    /// - Returns: `nil` if it may still wait.
    private func endLate(
        _ attempt: AttemptDirectory, _ submitted: [UInt8]?, _ job: SlurmJob
    ) async throws(ExecutionError) -> Liveness? {
        let text = String(decoding: submitted ?? [], as: UTF8.self).filter { !$0.isWhitespace }
        guard job.isPending, let at = Int64(text) else { return nil }
        let waited = Date().timeIntervalSince1970 - Double(at) / 1000
        guard waited > Double(cluster.longestWait.components.seconds) else { return nil }
        let hours = Int64(clamping: waited / 3600)
        let time = hours > 0 ? "\(hours) h" : "\(Int64(clamping: waited / 60)) min"
        let reason =
            "the job has waited for \(time) at the executor \(cluster.name), longer than its `wait`: \(job.reason)"
        let isEnded = try await SerialQueue(label: "slurm").run { () throws(ExecutionError) in
            try attempt.endUnbegun(.faulty, reason: reason)
        }
        guard isEnded else { return .running }
        // It ends by itself if Slurm starts it all the same.
        _ = try? await program.run("scancel", ["--quiet", "--me", "--jobname=\(job.name)"])
        return .finished
    }

    /// Has Slurm kill a job that was asked to end and has not ended within its grace.
    private func endOverdue(_ attempt: AttemptDirectory) async {
        guard await waits.isOverdue(attempt.path, patience.kill) else { return }
        let name = Self.jobName(of: attempt)
        // A controller that does not answer is asked again with the next request to end the job.
        _ = try? await program.run("scancel", ["--quiet", "--me", "--jobname=\(name)", "--full", "--signal=KILL"])
    }

    /// Gives an attempt up, for good. If its process lives on where the daemon cannot see it, it ends as soon as it sees the file `loss`.
    private func lose(
        _ attempt: AttemptDirectory, on host: String?, _ job: SlurmJob?
    ) async throws(ExecutionError) -> Liveness {
        let owner = try attempt.lockOwner()?.host ?? host
        let node = job.map(\.node).flatMap { $0.isEmpty ? nil : $0 } ?? owner ?? "a node"
        let ending = Self.ending(job) ?? ExecutorEnding(isLimit: false, sentence: "the job was lost on \(node)")
        let text = "\(ending.isLimit ? "limit" : "lost") \(ending.sentence)\n"
        _ = try await SerialQueue(label: "slurm").run { () throws(ExecutionError) in
            try attempt.createExclusively(attempt.paths.loss, Array(text.utf8))
        }
        await forget(attempt)
        return .lost
    }

    private func forget(_ attempt: AttemptDirectory) async {
        await heartbeats.forget(attempt)
        await waits.forget(attempt.path)
    }

    /// How often Slurm is asked how a job ended whose process has just ended, and the pause between.
    private static let (endingTries, endingPause) = (20, Duration.milliseconds(250))

    /// Returns how Slurm ended an attempt; see `Executor`. Waits at most five seconds until Slurm knows.
    package func ending(of attempt: AttemptDirectory) async -> ExecutorEnding? {
        let loss = await SerialQueue(label: "slurm").run { try? WholeFile.read(attempt.paths.loss, limit: 4096) }
        if let loss {
            let words = String(decoding: loss, as: UTF8.self).split(separator: " ", maxSplits: 1)
            guard words.count == 2 else { return nil }
            return ExecutorEnding(isLimit: words[0] == "limit", sentence: words[1].split(separator: "\n").joined())
        }
        let name = Self.jobName(of: attempt)
        for _ in 0..<Self.endingTries {
            // Without an answer only the job's own words count.
            guard let job = try? await jobs.fresh()[name] else { return nil }
            if job.hasEnded { return Self.ending(job) }
            guard (try? await Task.sleep(for: Self.endingPause)) != nil else { return nil }
        }
        return nil
    }

    /// Returns what an end at Slurm means; `nil` for an end of the job's own.
    static func ending(_ job: SlurmJob?) -> ExecutorEnding? {
        guard let job else { return nil }
        let place = job.node.isEmpty ? "" : " on \(job.node)"
        switch job.state {
        case "TIMEOUT":
            return ExecutorEnding(isLimit: true, sentence: "Slurm ended the job\(place) at its time limit (TIMEOUT)")
        case "OUT_OF_MEMORY":
            return ExecutorEnding(isLimit: true, sentence: "the job\(place) was out of memory (OUT_OF_MEMORY)")
        case "DEADLINE":
            return ExecutorEnding(isLimit: true, sentence: "Slurm ended the job\(place) at its deadline (DEADLINE)")
        case "NODE_FAIL", "BOOT_FAIL":
            return ExecutorEnding(
                isLimit: false, sentence: "the node\(job.node.isEmpty ? "" : " \(job.node)") failed (\(job.state))")
        case "PREEMPTED":
            return ExecutorEnding(
                isLimit: false, sentence: "Slurm gave the job's node\(place) to another job (PREEMPTED)")
        case "CANCELLED":
            return ExecutorEnding(isLimit: false, sentence: "the job\(place) was canceled at the cluster (CANCELLED)")
        default: return nil
        }
    }
}
