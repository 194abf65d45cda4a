import Archives
package import Basics
package import Execution
import Glibc
import JobProtocol
package import Jobs
package import Logging
package import Model
package import Notifications
package import Releases
package import Settings
package import SourceControl
package import Storage
import Transfer

/// Runs an integration's triggers in their order; the first that fails stops the later ones, and what was published
/// stays.
package struct TriggerRunner: Sendable {
    let store: Store
    let state: StateDirectory
    let executor: any Executor
    let publisher: Publisher
    let uploads: Uploads
    /// The operator's directory of scripts.
    let scripts: String
    let secrets: SecretStore
    let environment: JobEnvironment
    /// The isolation of scripts that the bot file puts into the sandbox.
    let isolation: JobIsolation
    let clock: WallClock
    /// For the pauses between tries to reach the launcher.
    let timer: any Clock<Duration>
    /// Repeats what failed on a full disk; `nil`: such a failure is final.
    let jobRunner: JobRunner?
    /// Where refused credentials of uploads are recorded.
    let refusals: RefusedAccess
    let logger: Logger
    /// Job directories of scripts and secrets are read and written here.
    let queue = SerialQueue(label: "triggers")

    package init(
        store: Store, state: StateDirectory, executor: any Executor, publisher: Publisher, uploads: Uploads,
        scripts: String, secrets: SecretStore, environment: JobEnvironment, isolation: JobIsolation,
        clock: WallClock, timer: any Clock<Duration>, jobs: JobRunner? = nil,
        refusals: RefusedAccess = RefusedAccess(), logger: Logger
    ) {
        self.refusals = refusals
        jobRunner = jobs
        self.store = store
        self.state = state
        self.executor = executor
        self.publisher = publisher
        self.uploads = uploads
        self.scripts = scripts
        self.secrets = secrets
        self.environment = environment
        self.isolation = isolation
        self.clock = clock
        self.timer = timer
        self.logger = logger
    }

    /// Whose triggers are run.
    package struct Context: Sendable {
        package var integration: IntegrationRecord
        package var bot: BotSpecification
        package var mirror: Mirror
    }

    /// What conditions are judged by; there is none before the jobs have run.
    package struct Facts: Sendable {
        package var verdict: Verdict
        package var summary: Summary
        /// The branch's integration before.
        package var before: Verdict?
        /// Whether nothing was tested, although the recipe does not say `test: none`.
        package var isUntested = false

        /// Whether it may be published: no errors, no failing tests, and something that was tested.
        var isPublishable: Bool { verdict.isPublishable && !isUntested }
    }

    /// Whether a trigger of the phase failed, and the sentence that the integration shows for it.
    package struct Outcome: Sendable {
        package var hasFailed = false
        package var reason: String?
    }

    /// Runs those of a phase, but for what a daemon before this one has done already.
    package func run(
        _ phase: Trigger.Phase, _ context: Context, facts: Facts?, cancellation: Cancellation
    ) async throws -> Outcome {
        let all = try await store.triggers(of: context.integration.id)
        let run = context.integration.run
        var outcome = Outcome()
        for trigger in context.bot.triggers where trigger.phase == phase && trigger.matches(context.integration.ref) {
            let last = all.last { $0.trigger == trigger.name && $0.run == run }
            // What runs before this one did stays beside it.
            let earlier = all.filter { $0.trigger == trigger.name && $0.run < run }.map(\.attempt).max() ?? 0
            if let last, last.state != .running {
                if last.state == .failed { outcome = Outcome(hasFailed: true, reason: last.reason) }
                continue
            }
            var record =
                last
                ?? TriggerRecord(
                    integration: context.integration.id, trigger: trigger.name, attempt: earlier + 1, run: run,
                    phase: phase, state: .running,
                    startedAt: clock.now())
            // A trigger that has been running since before a restart is ended in order.
            if last == nil, let cancelRequest = await cancellation.requested {
                finish(&record, .skipped, cancelRequest.reason)
            } else if outcome.hasFailed {
                finish(&record, .skipped, "a trigger before it failed")
            } else if let facts, let reason = Self.whyNot(trigger, facts) {
                finish(&record, .skipped, reason)
            } else {
                try await perform(trigger, &record, earlier: earlier, context, facts, cancellation)
                if record.state == .failed {
                    outcome = Outcome(
                        hasFailed: true, reason: "the trigger \(trigger.name) failed: \(record.reason ?? "")")
                }
            }
            try await store.recordTrigger(record)
        }
        return outcome
    }

    private func finish(_ record: inout TriggerRecord, _ state: TriggerState, _ reason: String?) {
        record.state = state
        record.reason = reason
        record.endedAt = clock.now()
    }

    /// - Returns: Why none of the trigger's conditions holds; `nil` if one does.
    static func whyNot(_ trigger: Trigger, _ facts: Facts) -> String? {
        guard !trigger.when.contains(where: { holds($0, facts) }) else { return nil }
        let condition = "when: \(trigger.when.map(\.rawValue).joined(separator: ", "))"
        var tested = facts
        tested.isUntested = false
        return trigger.when.contains { holds($0, tested) }
            ? "\(condition), and \(untestedReason)" : "\(condition), and the verdict is \(facts.verdict.rawValue)"
    }

    private static func holds(_ condition: Trigger.Condition, _ facts: Facts) -> Bool {
        switch condition {
        case .succeeded: facts.isPublishable
        case .clean: facts.verdict == .succeeded && facts.isPublishable
        case .failed: facts.verdict > .analyzerWarnings
        case .fixed: facts.isPublishable && facts.before.map { !$0.isPublishable } ?? false
        case .always: true
        }
    }

    private static let untestedReason =
        "nothing was tested; write `test:` in the recipe, or `test: none` if there is nothing to test"

    private func perform(
        _ trigger: Trigger, _ record: inout TriggerRecord, earlier: Int, _ context: Context, _ facts: Facts?,
        _ cancellation: Cancellation
    ) async throws {
        let root = StateDirectory.trigger(trigger.name, of: context.integration.id)
        // A trigger that has been running since before a restart is where it was begun, under the name that an earlier version used.
        let log = record.log ?? "\(root)/\(record.attempt)"
        if trigger.action.isJob { record.log = log }
        try await store.recordTrigger(record)
        if trigger.phase == .after {
            let step: IntegrationStep = trigger.action.isRelease ? .uploading : .afterTriggers
            try await store.apply(.entered(step), to: context.integration.id, at: clock.now())
        }
        do {
            // A trigger of an integration that ran when the backup was made gets here.
            if trigger.action.isRelease, let hold = try await store.pauses().publishing {
                throw TriggerError(
                    "\(hold.sentence); after `martlet resume --publishing` run `martlet rerun \(context.integration.id) --triggers`"
                )
            }
            switch trigger.action {
            case .run(let script):
                try await running(&record, log, in: root, earlier: earlier) { log in
                    try await runScript(script, trigger, log: log, context, facts, cancellation)
                }
                finish(&record, .succeeded, nil)
            case .publish(let source):
                guard facts?.verdict.isPublishable ?? false else {
                    throw TriggerError("a commit with errors or failing tests is never published; see when:")
                }
                guard facts?.isUntested == false else { throw TriggerError(Self.untestedReason) }
                let jobs = try await jobs(of: context)
                var request = Publisher.Request(
                    integration: context.integration, bot: context.bot, source: source,
                    mirror: context.mirror, files: try await files(of: context),
                    isolation: jobs.allSatisfy { $0.isolation == .sandbox } && !jobs.isEmpty ? "sandbox" : "none",
                    registry: trigger.registry, job: jobs.first)
                guard !request.files.isEmpty else {
                    throw TriggerError(
                        "the integration archived nothing; see the step archiving and `archive:` in the recipe. Where the trigger is newer "
                            + "than the integration, rerun that as a whole")
                }
                if case .command(let command) = source, let job = jobs.first {
                    request.printed = try await running(&record, log, in: root, earlier: earlier) { log in
                        try await printedVersion(command, trigger, log: log, as: job, context, cancellation)
                    }
                }
                let publication = try await withRoom(context, cancellation) { try await publisher.publish(request) }
                // Nothing was published, which is no success of this trigger.
                if case .unchanged = publication { return finish(&record, .skipped, publication.sentence) }
                record.version = publication.version
                finish(&record, .succeeded, publication.sentence)
            case .upload(let url, let credentials):
                let notes = "\(state.path)/\(root)/uploads"
                guard
                    let shipment = try await shipment(
                        trigger, to: url, credentials: credentials, notes: notes, context)
                else {
                    // The publish trigger before it succeeded, or this one would not run: a later commit was published.
                    finish(&record, .skipped, "the commit got no version; see the trigger that publishes")
                    return
                }
                let sent = try await withRoom(context, cancellation) {
                    try await cancellation.interrupting { try await send(shipment) }
                }
                guard let sent else {
                    await uploads.discard(shipment)
                    throw CancellationError()
                }
                finish(&record, .succeeded, sent)
            }
        } catch {
            if Task.isCancelled { throw CancellationError() }
            let cancelRequest = await cancellation.requested
            // A publication is never interrupted, so what it says is its own.
            if let cancelRequest, !trigger.action.isPublishing || error is CancellationError {
                return finish(&record, .failed, cancelRequest.reason)
            }
            if cancelRequest == nil, error is CancellationError { throw error }
            // It is taken up again; what was published by then is found as this commit's.
            if let error = error as? StoreError, error.isPassing { throw error }
            logger.warning(
                "a trigger failed",
                metadata: [
                    "integration": "\(context.integration.id)", "trigger": "\(trigger.name)", "error": "\(error)",
                ])
            finish(&record, .failed, "\(error)")
        }
    }

    /// Performs an operation, and repeats it if a full disk made it fail; see `JobRunner.withRoom`.
    private func withRoom<Value>(
        _ context: Context, _ cancellation: Cancellation, _ body: () async throws -> Value
    ) async throws -> Value {
        guard let jobRunner else { return try await body() }
        return try await jobRunner.withRoom(for: context.integration.id, cancellation, body)
    }

    /// Runs a trigger's job, and once more when it was interrupted; each try has a record of its own.
    private func running<Value>(
        _ record: inout TriggerRecord, _ log: String, in root: String, earlier: Int,
        _ job: (String) async throws -> Value
    ) async throws -> Value {
        do {
            return try await job(log)
        } catch let error as TriggerInterruption where record.attempt - earlier < JobRunner.maximumAttempts {
            var interrupted = record
            finish(&interrupted, .failed, error.onceReason)
            let next = "\(root)/\(record.attempt + 1)"
            record.attempt += 1
            record.log = next
            record.startedAt = clock.now()
            try await store.recordTriggers([interrupted, record])
            return try await job(next)
        }
    }

    /// The published version of this integration's commit: the version that its last trigger reported, even one that another ref's integration made
    /// of the same commit; else the version made of the commit on this ref.
    func version(of context: Context) async throws -> VersionRecord? {
        let (commit, ref) = (context.integration.commit, context.integration.ref)
        let said = try await store.triggers(of: context.integration.id).last { $0.version != nil }?.version
        if let said, let found = try await store.version(said, of: context.bot.product), found.state == .published,
            found.commit == commit
        {
            return found
        }
        let product = context.bot.product
        let made = try await store.outlines(of: product).first { $0.commit == commit && $0.ref == ref }
        guard let made else { return nil }
        return try await store.version(made.version, of: product)
    }

    /// The integration's archived files, where they lie now.
    private func files(of context: Context) async throws -> [(path: String, artifact: Artifact)] {
        try await store.artifacts(of: context.integration.id).map { stored in
            let attempt = AttemptDirectory(
                path: state.attempt(
                    stored.attempt.integration, job: stored.attempt.job, attempt: stored.attempt.attempt))
            return ("\(attempt.paths.archives)/\(stored.artifact.path)", stored.artifact)
        }
    }

    /// The jobs that built them, as they ran.
    private func jobs(of context: Context) async throws -> [JobDescription] {
        var seen: Set<AttemptID> = []
        let attempts = try await store.artifacts(of: context.integration.id).map(\.attempt).filter {
            seen.insert($0).inserted
        }.map { AttemptDirectory(path: state.attempt($0.integration, job: $0.job, attempt: $0.attempt)) }
        return try await queue.run { try attempts.map { try $0.job() } }
    }

    private func send(_ shipment: Uploads.Shipment) async throws -> String {
        let place = RefusedAccess.Use.upload(Uploads.place(of: shipment.template))
        do {
            let sent = try await transfer(shipment)
            refusals.record(nil, by: place)
            return sent
        } catch let error as TransferError {
            refusals.record(error.isOfCredentials ? "\(error)" : nil, by: place)
            throw error
        }
    }

    private func transfer(_ shipment: Uploads.Shipment) async throws -> String {
        let (store, logger) = (store, logger)
        return try await uploads.send(shipment) { interruption in
            store.tell(.integration(shipment.integration))
            guard let interruption else { return }
            logger.warning(
                "an upload was interrupted; Martlet tries again",
                metadata: [
                    "integration": "\(shipment.integration)", "trigger": "\(shipment.trigger)",
                    "error": "\(interruption)",
                ])
        }
    }

    /// What an upload trigger sends; `nil` if its address needs a version and the commit has none.
    private func shipment(
        _ trigger: Trigger, to url: String, credentials: String?, notes: String, _ context: Context
    ) async throws -> Uploads.Shipment? {
        let version = try await version(of: context)
        var values = [
            "product": context.bot.product.description,
            "branch": context.integration.ref.shortName,
            "commit": context.integration.commit.description,
        ]
        values["version"] = version?.version.description
        let files: [Uploads.File]
        if let version {
            let directory = "\(state.files)/\(version.product)/\(version.version)"
            // What says which bytes are right goes last, so that where it is, all is.
            let sums = try await queue.run {
                try ["manifest.json", "provenance.json", "SHA256SUMS.sig", "SHA256SUMS"].filter { name in
                    access("\(directory)/\(name)", F_OK) == 0
                }.map { name in
                    let (sha256, size) = try Digest.sha256(ofFile: "\(directory)/\(name)")
                    return Artifact(configuration: nil, path: name, size: ByteCount(size), sha256: sha256)
                }
            }
            files = (version.files + sums).map { .init(path: "\(directory)/\($0.path)", artifact: $0) }
        } else {
            guard !url.contains("{version}") else { return nil }
            files = try await self.files(of: context).map { .init(path: $0.path, artifact: $0.artifact) }
        }
        guard !files.isEmpty else { throw TriggerError("the integration archived nothing to upload") }
        return Uploads.Shipment(
            files: files, template: url, values: values, credentials: credentials,
            integration: context.integration.id, trigger: trigger.name, notes: notes)
    }
}

extension Trigger.Action {
    /// Whether something of it runs as a job, with a log.
    fileprivate var isJob: Bool {
        switch self {
        case .run, .publish(.command): true
        case .publish, .upload: false
        }
    }

    fileprivate var isPublishing: Bool { if case .publish = self { true } else { false } }
}
