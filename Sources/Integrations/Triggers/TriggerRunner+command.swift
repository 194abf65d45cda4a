import Basics
import Execution
import JobProtocol
import Jobs
import Model
import Releases
import Reports
import SourceControl
import Storage

extension TriggerRunner {
    /// Where the command's output goes, in its checkout.
    private static let output = ".martlet-version"
    /// The file for the command's output, beside its log, kept until the integration is removed: the checkout is removed before anything is
    /// published, and a daemon that ends in between reads the output again.
    private static let kept = "printed"

    /// Runs a publication's command as a job of its own: sandboxed as the job was that built the products, with that one's environment, a checkout
    /// of its own, no network and no secret.
    /// - Returns: What it printed to its standard output.
    /// - Throws: `TriggerError` when it fails; as `runJob`.
    func printedVersion(
        _ command: String, _ trigger: Trigger, log: String, as built: JobDescription, _ context: Context,
        _ cancellation: Cancellation
    ) async throws -> [UInt8] {
        try await runJob(
            "the command for the version", of: context.integration.id, at: log, cancellation,
            order: { work in
                let report = try await cancellation.interrupting {
                    try await context.mirror.checkout(
                        context.integration.commit, ref: context.integration.ref, into: "\(work)/tree",
                        state: "\(work)/checkout", acceptsPointers: true)
                }
                guard report != nil else { throw CancellationError() }
                try await queue.run { try Directory(opening: "\(work)/tree").remove(Self.output) }
                return Order(job: Self.describe(command, trigger, as: built, in: work))
            },
            read: { attempt, ends in
                guard ends.steps[0]?.isSuccess ?? false else {
                    throw TriggerError(
                        "the version command failed: "
                            + (ends.limit ?? ends.steps[0]?.description ?? ends.reason ?? "it ended without a result"))
                }
                return try await queue.run { try Self.text(printedBy: attempt) }
            })
    }

    private static func text(printedBy attempt: AttemptDirectory) throws -> [UInt8] {
        let limit = Trigger.VersionSource.maximumTextSize
        let place = try Directory(opening: attempt.path)
        guard try place.status(kept) == nil else { return try place.read(kept, limit: limit) }
        let tree = try Directory(opening: try attempt.job().workspace)
        let printed: [UInt8]
        do throws(FileError) {
            printed = try tree.status(output) == nil ? [] : try tree.read(output, limit: limit)
        } catch {
            // Too long, or no longer a file: what a job leaves is never followed.
            throw TriggerError("the output of the version command cannot be read: \(error.message)")
        }
        try AtomicFile.write(printed, to: "\(attempt.path)/\(kept)")
        return printed
    }

    private static func describe(
        _ command: String, _ trigger: Trigger, as built: JobDescription, in work: String
    ) -> JobDescription {
        var job = built
        job.workspace = "\(work)/tree"
        if job.sandbox == nil {
            job.mountedAt = job.workspace
            job.environment["TMPDIR"] = "\(work)/tmp"
            for name in ["MARTLET_SOURCE_DIR", "XCS_SOURCE_DIR", "XCS_PRIMARY_REPO_DIR"] {
                job.environment[name] = job.workspace
            }
        }
        // The job's own was removed with its end, and its workspace may have another job by now.
        job.sandbox?.homeDirectory = nil
        job.secrets = []
        job.collect = []
        job.steps = [
            .init(
                step: JobStep.processing.rawValue, name: "version",
                arguments: ["/bin/sh", "-c", "exec \"$@\" >\(output)", "version"]
                    + ShellCommand.arguments(for: command),
                timeoutMilliseconds: trigger.timeout.milliseconds, network: .none)
        ]
        return job
    }
}
