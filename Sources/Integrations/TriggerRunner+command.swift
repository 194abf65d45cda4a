import Basics
import Execution
import JobProtocol
import Model
import Reports
import SourceControl
import Storage

extension TriggerRunner {
    /// Where the command's output goes, in its checkout.
    private static let output = ".martlet-version"
    /// What it printed, beside its log, until the integration is removed: the checkout goes before anything is published, and a daemon that
    /// ends in between asks again.
    private static let kept = "printed"
    private static let interruption =
        "the command for the version was interrupted: the machine was stopping, or its supervisor was lost; run it again with "
        + "`martlet rerun BOT#N --triggers`"

    /// Runs a publication's command as a job of its own: fenced as the job was that built the products, with that one's environment, a checkout
    /// of its own, no network and no secret.
    /// - Returns: What it printed to its standard output.
    /// - Throws: `PublishError` when it fails.
    func printedVersion(
        _ command: String, _ trigger: Trigger, log: String, as built: JobDescription, _ context: Context,
        _ cancellation: Cancellation
    ) async throws -> [UInt8] {
        let attempt = AttemptDirectory(path: "\(state.path)/\(log)")
        let work = "\(attempt.path).work"
        let relative = String(work.dropFirst(state.integrations.count + 1))
        if try await executor.liveness(of: attempt) == .notStarted {
            guard await cancellation.requested == nil else { throw CancellationError() }
            try await lane.run {
                let integrations = try Directory(opening: state.integrations)
                try integrations.remove(relative)
                try integrations.makeDirectories(relative + "/tmp", mode: 0o700)
            }
            _ = try await context.mirror.checkout(
                context.integration.commit, ref: context.integration.ref, into: "\(work)/tree",
                state: "\(work)/checkout", acceptsPointers: true)
            let job = Self.describe(command, trigger, as: built, in: work)
            try await lane.run {
                try Directory(opening: "\(work)/tree").remove(Self.output)
                try attempt.prepare(job)
            }
            try await executor.start(attempt, secrets: [:])
        }
        let ends: StepEnds
        do {
            ends = try await follow(attempt, cancellation)
        } catch is ScriptInterruption {
            throw PublishError(Self.interruption)
        }
        guard ends.outcome != .interrupted else {
            await clear(relative)
            throw PublishError(Self.interruption)
        }
        guard ends.steps[0]?.isSuccess ?? false else {
            await clear(relative)
            throw PublishError(
                "the command for the version failed: "
                    + (ends.limit ?? ends.steps[0]?.description ?? ends.reason ?? "it ended without a result"))
        }
        let limit = Trigger.VersionSource.maximumTextSize
        let printed = try await lane.run {
            let place = try Directory(opening: attempt.path)
            guard try place.status(Self.kept) == nil else { return try place.read(Self.kept, limit: limit) }
            let tree = try Directory(opening: "\(work)/tree")
            let printed: [UInt8]
            do throws(FileError) {
                printed = try tree.status(Self.output) == nil ? [] : try tree.read(Self.output, limit: limit)
            } catch {
                // Too long, or no longer a file: what a job leaves is never followed.
                throw PublishError("what the command for the version printed cannot be read: \(error.message)")
            }
            try AtomicFile.write(printed, to: "\(attempt.path)/\(Self.kept)")
            return printed
        }
        await clear(relative)
        return printed
    }

    /// Removes the checkout; what cannot be removed goes with the integration.
    private func clear(_ work: String) async {
        await lane.run { try? Directory(opening: state.integrations).remove(work) }
    }

    private static func describe(
        _ command: String, _ trigger: Trigger, as built: JobDescription, in work: String
    ) -> JobDescription {
        var job = built
        job.workspace = "\(work)/tree"
        if job.fence == nil {
            job.mountedAt = job.workspace
            job.environment["TMPDIR"] = "\(work)/tmp"
            for name in ["MARTLET_SOURCE_DIR", "XCS_SOURCE_DIR", "XCS_PRIMARY_REPO_DIR"] {
                job.environment[name] = job.workspace
            }
        }
        job.secrets = []
        job.collect = []
        job.steps = [
            .init(
                step: JobStep.processing.rawValue, name: "version",
                arguments: ["/bin/sh", "-c", "exec >\(output)\n\(command)"],
                timeoutMilliseconds: trigger.timeout.milliseconds, network: .none)
        ]
        return job
    }
}
