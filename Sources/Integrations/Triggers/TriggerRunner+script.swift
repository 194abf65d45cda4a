import Basics
import Execution
import Glibc
import JobProtocol
import Jobs
import Logging
import Model
import Releases
import Reports
import Settings
import SourceControl
import Storage

extension TriggerRunner {
    /// Runs the operator's script as a job of its own: with a log, a time-out and secrets, and it outlives the daemon.
    /// - Throws: `TriggerError` when it cannot be run or fails; as `runJob`.
    func runScript(
        _ script: String, _ trigger: Trigger, log: String, _ context: Context, _ facts: Facts?,
        _ cancellation: Cancellation
    ) async throws {
        let path = "\(scripts)/\(script)"
        let failure = try await runJob(
            "the script", of: context.integration.id, at: log, cancellation,
            order: { work in
                guard access(path, X_OK) == 0 else {
                    throw TriggerError(
                        "\(path) is missing or not executable; put trigger scripts into triggers/ beside bots/ and make them executable (chmod +x)"
                    )
                }
                var values: [String: String] = [:]
                for name in trigger.secrets {
                    guard let value = try await queue.run({ try secrets.value(name) }) else {
                        throw TriggerError("the secret \(name) is not set; set it with `martlet secret set \(name)`")
                    }
                    values[SecretStore.variable(for: name)] = value
                }
                return Order(job: try await describe(path, trigger, work: work, context, facts), secrets: values)
            },
            read: { _, ends in
                ends.steps[0]?.isSuccess ?? false
                    ? nil : ends.limit ?? ends.steps[0]?.description ?? ends.reason ?? "it ended without a result"
            })
        if let failure { throw TriggerError("\(script) failed: \(failure)") }
    }

    /// Describes the script's job. `place` contains `run`, an empty directory where the script begins, and `source`, the commit's files. A program
    /// that looks for settings, modules or a repository in its working directory then finds none of the commit's.
    private func describe(
        _ path: String, _ trigger: Trigger, work: String, _ context: Context, _ facts: Facts?
    ) async throws -> JobDescription {
        let place = "\(work)/place"
        let sandbox = trigger.isSandboxed == true ? try sandbox(of: trigger) : nil
        let seen = sandbox == nil ? place : JobIsolation.mountedAt(context.bot.name)
        try await queue.run {
            let place = try Directory(creating: place, mode: 0o700)
            for name in ["run", "artifacts"] { try place.makeDirectories(name) }
        }
        let left = try await context.mirror.exportForScript(context.integration.commit, into: "\(place)/source")
        if !left.isEmpty {
            logger.info(
                "links that lead out of the commit's files were left out of a script's",
                metadata: [
                    "integration": "\(context.integration.id)", "trigger": "\(trigger.name)",
                    "links": "\(left.prefix(10).joined(separator: ", "))",
                ])
        }
        let version = try await version(of: context)
        let artifacts = try await artifacts(of: context, version)
        var description = JobDescription(
            steps: [
                .init(
                    step: JobStep.processing.rawValue, name: trigger.name.description,
                    arguments: Self.arguments(path, because: artifacts == nil ? whyNoArtifacts(context, facts) : nil),
                    workingDirectory: "run", timeoutMilliseconds: trigger.timeout.milliseconds,
                    secrets: trigger.secrets.map(SecretStore.variable(for:)), network: .full)
            ],
            workspace: place, mountedAt: seen, secrets: trigger.secrets.map(SecretStore.variable(for:)))
        var environmentPlace = JobEnvironment.Place(workspace: seen, temporary: "\(work)/tmp")
        if var sandbox {
            if let artifacts { sandbox.readOnly.append(artifacts) }
            description.isolation = .sandbox
            description.sandbox = sandbox
            description.limits = isolation.limits(of: context.bot)
            environmentPlace.temporary = "/tmp"
            environmentPlace.sandbox = .init(
                path: isolation.path, home: sandbox.home, user: JobIsolation.user, cache: "\(sandbox.home)/.cache",
                readOnly: sandbox.readOnly)
        }
        let facts = TriggerFacts(
            verdict: facts?.verdict, summary: facts?.summary ?? Summary(), artifacts: artifacts ?? "\(seen)/artifacts",
            source: "\(seen)/source", version: version?.version)
        description.environment = environment.trigger(
            context.integration, bot: context.bot, facts: facts, in: environmentPlace)
        return description
    }

    /// The directory of the integration's artifacts: the published version's files, else a job's archives; `nil` if there are neither.
    private func artifacts(of context: Context, _ version: VersionRecord?) async throws -> String? {
        if let version { return "\(state.files)/\(version.product)/\(version.version)" }
        guard let stored = try await store.artifacts(of: context.integration.id).first else { return nil }
        let attempt = stored.attempt
        return AttemptPaths(state.attempt(attempt.integration, job: attempt.job, attempt: attempt.attempt)).archives
    }

    /// Returns why the integration has no archived products; `nil` if it keeps them, or if its jobs have not run yet.
    private func whyNoArtifacts(_ context: Context, _ facts: Facts?) -> String? {
        guard facts != nil, let recipe = context.integration.recipe else { return nil }
        return context.bot.whyNotArchived(recipe, on: context.integration.ref)
    }

    /// Returns the command that runs a script.
    /// - Parameter reason: Why the directory of artifacts is empty, which the log says first. A shell prints it and becomes the script.
    private static func arguments(_ path: String, because reason: String?) -> [String] {
        guard let reason else { return [path] }
        return [
            "/bin/sh", "-c", #"printf '%s\n' "$1"; exec "$0""#, path, "martlet: MARTLET_ARTIFACTS is empty: \(reason)",
        ]
    }

    /// The sandbox of a script: it has the network, and sees what jobs see of the machine, and the directory of scripts.
    /// - Throws: `TriggerError` if jobs have no sandbox: a script that its author wants confined never runs outside.
    private func sandbox(of trigger: Trigger) throws -> JobDescription.Sandbox {
        if let reason = isolation.isolation.reason {
            throw TriggerError(
                "the bot file says `sandbox: true` for the trigger \(trigger.name), and there is no sandbox here: \(reason); set it up "
                    + "(`martlet doctor` says how), or write `sandbox: false`, with which the script has all rights of the service's user"
            )
        }
        return JobDescription.Sandbox(
            readOnly: isolation.readOnly + [scripts], home: JobIsolation.home,
            sharesNetwork: isolation.loopback != nil)
    }
}
