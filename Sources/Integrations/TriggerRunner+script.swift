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
    /// - Throws: `ScriptError` when it cannot be run or fails.
    func runScript(
        _ script: String, _ trigger: Trigger, log: String, _ context: Context, _ facts: Facts?,
        _ cancellation: Cancellation
    ) async throws {
        let path = "\(scripts)/\(script)"
        guard access(path, X_OK) == 0 else {
            throw ScriptError(
                "\(path) is not there or not executable; trigger scripts lie in triggers/ beside bots/ (chmod +x)")
        }
        let attempt = AttemptDirectory(path: "\(state.path)/\(log)")
        let work = "\(attempt.path).work"
        if try await executor.liveness(of: attempt) == .notStarted {
            guard await cancellation.requested == nil else { throw CancellationError() }
            var values: [String: String] = [:]
            for name in trigger.secrets {
                guard let value = try await lane.run({ try secrets.value(name) }) else {
                    throw ScriptError("the secret \(name) is not set; set it with `martlet secret set \(name)`")
                }
                values[SecretStore.variable(for: name)] = value
            }
            let job = try await describe(path, trigger, work: work, context, facts)
            try await lane.run { try attempt.prepare(job) }
            try await executor.start(attempt, secrets: values)
        }
        let ends = try await follow(attempt, cancellation)
        try await lane.run {
            try Directory(opening: state.integrations).remove(String(work.dropFirst(state.integrations.count + 1)))
        }
        if ends.outcome == .interrupted { throw ScriptInterruption() }
        guard let end = ends.steps[0], end.isSuccess else {
            throw ScriptError(
                "\(script) failed: \(ends.limit ?? ends.steps[0]?.description ?? ends.reason ?? "it ended without a result")"
            )
        }
    }

    /// Follows a trigger's job to its end; a wish to cancel ends it.
    /// - Throws: `ScriptInterruption` when its supervisor was lost.
    func follow(_ attempt: AttemptDirectory, _ cancellation: Cancellation) async throws -> StepEnds {
        let executor = executor
        var ends = StepEnds([])
        try await cancellation.whileCancellable(
            stop: { wish in
                // A script that cannot be asked to stop ends by its time-out.
                try? await executor.cancel(attempt, reason: wish.reason, grace: wish.grace)
            },
            {
                var events: [StatusEvent] = []
                do {
                    for try await event in AttemptFollower(executor: executor).events(of: attempt) {
                        events.append(event)
                    }
                } catch let error as ExecutionError where error.code == .lost {
                    throw ScriptInterruption()
                }
                ends = StepEnds(events)
            })
        try Task.checkCancellation()
        return ends
    }

    private func describe(
        _ path: String, _ trigger: Trigger, work: String, _ context: Context, _ facts: Facts?
    ) async throws -> JobDescription {
        try await lane.run {
            let integrations = try Directory(opening: state.integrations)
            let relative = String(work.dropFirst(state.integrations.count + 1))
            try integrations.remove(relative)
            try integrations.makeDirectories(relative + "/tmp", mode: 0o700)
            try integrations.makeDirectories(relative + "/artifacts")
        }
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

/// A script that ended by no fault of its own: the machine was stopping, or its supervisor was lost.
struct ScriptInterruption: Error, CustomStringConvertible {
    /// What is said of the first of two tries.
    static let onceReason =
        "the script was interrupted: the machine was stopping, or its supervisor was lost; it runs again"

    var description: String { "the script was interrupted twice: the machine was stopping, or its supervisor was lost" }
}

/// Why a trigger script did not succeed.
struct ScriptError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
