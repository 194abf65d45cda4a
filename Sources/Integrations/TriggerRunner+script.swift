import Basics
import Execution
import Glibc
import JobProtocol
import Model
import Reports
import Settings
import SourceControl
import Storage

extension TriggerRunner {
    /// Runs the operator's script as a job of its own: with a log, a time-out and secrets, and it outlives the daemon.
    /// - Throws: `ScriptError` when it cannot be run or fails; as `runJob`.
    func runScript(
        _ script: String, _ trigger: Trigger, log: String, _ context: Context, _ facts: Facts?,
        _ cancellation: Cancellation
    ) async throws {
        let path = "\(scripts)/\(script)"
        let failure = try await runJob(
            "the script", of: context.integration.id, at: log, cancellation,
            order: { work in
                guard access(path, X_OK) == 0 else {
                    throw ScriptError(
                        "\(path) is not there or not executable; trigger scripts lie in triggers/ beside bots/ (chmod +x)"
                    )
                }
                var values: [String: String] = [:]
                for name in trigger.secrets {
                    guard let value = try await lane.run({ try secrets.value(name) }) else {
                        throw ScriptError("the secret \(name) is not set; set it with `martlet secret set \(name)`")
                    }
                    values[SecretStore.variable(for: name)] = value
                }
                return Order(job: try await describe(path, trigger, work: work, context, facts), secrets: values)
            },
            read: { _, ends in
                ends.steps[0]?.isSuccess ?? false
                    ? nil : ends.limit ?? ends.steps[0]?.description ?? ends.reason ?? "it ended without a result"
            })
        if let failure { throw ScriptError("\(script) failed: \(failure)") }
    }

    private func describe(
        _ path: String, _ trigger: Trigger, work: String, _ context: Context, _ facts: Facts?
    ) async throws -> JobDescription {
        try await lane.run { try Directory(opening: work).makeDirectories("artifacts") }
        let source = "\(work)/source"
        try await context.mirror.export(context.integration.commit, into: source)
        let version = try await version(of: context)
        var artifacts = "\(work)/artifacts"
        if let version {
            artifacts = "\(state.files)/\(version.product)/\(version.version)"
        } else if let stored = try await store.artifacts(of: context.integration.id).first {
            artifacts =
                AttemptPaths(
                    state.attempt(
                        stored.attempt.integration, job: stored.attempt.job, attempt: stored.attempt.attempt)
                ).archives
        }
        let facts = TriggerFacts(
            verdict: facts?.verdict, summary: facts?.summary ?? Summary(), artifacts: artifacts, source: source,
            version: version?.version)
        return JobDescription(
            steps: [
                .init(
                    step: JobStep.processing.rawValue, name: trigger.name.description, arguments: [path],
                    timeoutMilliseconds: trigger.timeout.milliseconds,
                    secrets: trigger.secrets.map(SecretStore.variable(for:)))
            ],
            environment: environment.trigger(
                context.integration, bot: context.bot, facts: facts, temporary: "\(work)/tmp"),
            workspace: source, secrets: trigger.secrets.map(SecretStore.variable(for:)))
    }
}

/// Why a trigger script did not succeed.
struct ScriptError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
