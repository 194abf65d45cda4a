import Basics
package import Forges
package import Jobs
package import Model
package import Releases
package import Storage
package import Transfer

/// The operations of the HTTP interface and the command-line tool that change state. Each returns only after its changes are on the disk.
package struct Operations: Sendable {
    private let registry: BotRegistry
    private let intake: EventIntake
    private let requests: UserRequests
    private let publisher: Publisher
    /// The progress of uploads.
    package let board: UploadBoard
    private let retention: RetentionService
    private let disk: DiskGuard
    private let runner: IntegrationRunner
    /// What the service was found to be in.
    package let health: ServiceHealth
    /// Pauses and resumes the service and its bots.
    package let control: ServiceControl
    /// Deletes, renames and cleans bots.
    package let care: BotCare
    /// Measures the state directory.
    package let survey: DiskSurvey
    /// Lists secrets and their uses.
    package let secrets: SecretSurvey

    package init(
        registry: BotRegistry, intake: EventIntake, requests: UserRequests, publisher: Publisher, board: UploadBoard,
        retention: RetentionService, disk: DiskGuard, runner: IntegrationRunner,
        health: ServiceHealth,
        control: ServiceControl, care: BotCare, survey: DiskSurvey, secrets: SecretSurvey
    ) {
        self.health = health
        self.runner = runner
        self.control = control
        self.care = care
        self.survey = survey
        self.secrets = secrets
        self.registry = registry
        self.intake = intake
        self.requests = requests
        self.publisher = publisher
        self.board = board
        self.retention = retention
        self.disk = disk
    }

    /// A sentence about what the disk is short of; `nil` if it has enough room.
    package var diskShortage: String? { disk.shortage }

    /// Verifies and stores a push. No network is used before it returns.
    /// - Throws: `.unauthenticated` for a missing or wrong signature, and for a bot without a webhook secret. Also for an unknown bot, so that names
    ///   cannot be probed; never `.notFound`. `.invalid` for a body that is not a push. `.conflict` for a delivery id that was received with another
    ///   body. `.unavailable` if it could not be stored, so that the sender tries again.
    package func receive(_ push: PushRequest) async throws(OperationError) -> PushAcceptance {
        try await intake.receive(push)
    }

    /// Verifies and stores a forge's delivery, by the rules of the forge that its URL names. No network is used before it returns. An authentic event
    /// that moves no ref is stored as ignored, and causes no scan.
    /// - Throws: The same as `receive(_:)` of a push. `.invalid` also for another forge's delivery and for a body that cannot be read.
    package func receive(_ delivery: ForgeDelivery) async throws(OperationError) -> PushAcceptance {
        try await intake.receive(delivery)
    }

    /// The number of deliveries since the start that were refused for their signature.
    package var refusedDeliveries: Int { intake.refusals.total }

    /// Queues an integration at a user's request.
    /// - Parameter revision: A full ref name, a branch's or tag's name, or a commit id of at least 7 digits; `nil` for the tip of the default branch.
    /// - Throws: `.notFound` for a bot or revision that does not exist, `.unavailable` if the repository cannot be reached.
    package func integrate(
        bot: Name, revision: String?, isClean: Bool, by actor: String
    ) async throws(OperationError) -> IntegrationRecord {
        try await requests.integrate(bot: bot, revision: revision, isClean: isClean, by: actor)
    }

    /// Queues a completed integration for another run. Its recorded recipe is used, and the new attempts and triggers are stored beside the existing
    /// ones.
    /// - Throws: `.notFound`; `.invalid`; `.conflict` if it is not completed, or if no part of the request can run.
    package func rerun(
        _ id: IntegrationID, _ rerun: Rerun, by actor: String
    ) async throws(OperationError) -> Rerun.Acceptance {
        try await requests.rerun(id, rerun, by: actor)
    }

    /// Queues every integration again that failed by the machine's or the repository's fault; see `UserRequests.rerunMachineFailures`.
    /// - Throws: `.unavailable` if the database cannot be read.
    package func rerunMachineFailures(
        since time: Timestamp, bot: Name?, isDry: Bool, by actor: String
    ) async throws(OperationError) -> MachineReruns {
        try await requests.rerunMachineFailures(since: time, bot: bot, isDry: isDry, by: actor)
    }

    /// Lets one head of a fork's pull request run, for its current base. A newer head needs its own approval.
    /// - Parameter commit: The full id of the head that the approving user reviewed.
    /// - Returns: The queued integration; the existing one if no approval was needed.
    /// - Throws: `.notFound`; `.invalid` for anything but a full id; `.conflict` if the head has changed, the pull request is closed, or the bot
    ///   does not integrate it.
    package func approve(
        pullRequest number: Int, of bot: Name, commit: String, by actor: String
    ) async throws(OperationError) -> IntegrationRecord {
        try await requests.approve(number, of: bot, commit: commit, by: actor)
    }

    /// Cancels a queued or running integration. The parts that ran keep their logs. A rerun that has not started is withdrawn, and the integration is
    /// as it was before.
    /// - Parameter grace: The time between SIGTERM and SIGKILL, 0 to `Cancellation.Request.longestGrace`.
    /// - Throws: `.notFound`; `.conflict` if it is completed already; `.invalid`.
    package func cancel(
        _ id: IntegrationID, grace: Duration = Cancellation.Request.usualGrace, by actor: String
    ) async throws(OperationError) {
        try await requests.cancel(id, grace: grace, by: actor)
    }

    /// Mutes an issue of the bot in all branches, beginning with an integration.
    /// - Parameters:
    ///   - fingerprint: At least `IssueName.shortest` digits that only one issue of the integration begins with.
    ///   - expires: When the silence ends; `nil` if it lasts until a user revokes it.
    /// - Returns: The issue as it is now.
    /// - Throws: `.notFound`. `.invalid` for a reason that is empty or too long, or an end in the past or too far away. `.conflict` if several issues
    ///   match, the issue is resolved, or the bot has too many silences.
    package func silence(
        _ fingerprint: String, of id: IntegrationID, reason: String, expires: Timestamp?, by actor: String
    ) async throws(OperationError) -> Issue {
        try await requests.silence(fingerprint, of: id, reason: reason, expires: expires, by: actor)
    }

    /// Revokes a silence.
    /// - Returns: The fingerprint of the issue.
    /// - Throws: `.notFound` if no such issue is muted; `.conflict` if several fingerprints begin with these digits.
    package func unsilence(
        _ fingerprint: String, of id: IntegrationID, by actor: String
    ) async throws(OperationError) -> String {
        try await requests.unsilence(fingerprint, of: id, by: actor)
    }

    /// Tries to send a message of the outbox again that was given up.
    /// - Throws: `.notFound`; `.conflict` if it is in another state, or if there is a newer message with its subject.
    package func retryMessage(_ id: Int64, by actor: String) async throws(OperationError) -> OutboxMessage {
        try await requests.retryMessage(id, by: actor)
    }

    /// Excludes a version from `latest` and from ranges. It can still be fetched by its name forever.
    /// - Throws: `.notFound`.
    package func yank(product: Name, version: SemanticVersion, by actor: String) async throws(OperationError) {
        do {
            try await publisher.yank(product: product, version: version, by: actor)
        } catch {
            let code: OperationError.Code = error.code == .notFound ? .notFound : .unavailable
            throw OperationError(code, error.message, underlying: error.underlying)
        }
    }

    /// Removes what retention does not keep, or reports what it would remove.
    /// - Parameters:
    ///   - isDry: Whether it only reports.
    ///   - bot: The bot whose integrations are pruned; `nil` for every bot.
    /// - Throws: `.unavailable`. Some integrations may have been removed before.
    package func prune(isDry: Bool, bot: Name?) async throws(OperationError) -> RetentionReport {
        do {
            return try await retention.prune(isDry: isDry, bot: bot)
        } catch {
            throw OperationError(.unavailable, "old integrations could not be removed; try again", underlying: error)
        }
    }

    /// Returns the progress of the integration's running uploads, by trigger.
    package func uploads(of id: IntegrationID) -> [Name: UploadProgress] { board.uploads(of: id) }

    /// Returns what runs and what waits, in order, with reasons and estimates; at most `QueueForecast.maximumItems` of each.
    /// - Throws: `.unavailable` if the database cannot be read.
    package func queueForecast() async throws(OperationError) -> QueueForecast {
        do {
            return try await requests.forecast(shortage: disk.shortage)
        } catch {
            throw OperationError(
                .unavailable, "the queue cannot be read; try again, and see the daemon's log", underlying: error)
        }
    }

    /// Returns the bots as their files define them now, with the problems of these files.
    package func overview() async -> Overview { await registry.overview() }

    /// Returns when a bot's schedule queues next. `nil` if the bot has no schedule or the system does not know its time zone.
    package func nextScheduled(bot: Name, after moment: Timestamp) async -> Timestamp? {
        await registry.nextScheduled(bot, after: moment)
    }

    /// Returns one bot as its file defines it, with every default, as YAML that the same reader accepts.
    /// - Throws: `.notFound`.
    package func resolved(bot: Name) async throws(OperationError) -> String { try await registry.resolved(bot) }

    /// Returns what the next push of each watched branch would run, archive and publish, according to the bot's mirror.
    /// - Throws: `.notFound`; `.unavailable` if the mirror or the database cannot be read.
    package func pushPlans(bot name: Name) async throws(OperationError) -> PushPlans {
        let bot = try await registry.known(name)
        do {
            return try await runner.pushPlans(for: bot)
        } catch {
            throw OperationError(
                .unavailable,
                "what the next pushes of \(name) would run cannot be read; `martlet bot \(name)` says the state of its repository",
                underlying: error)
        }
    }

    /// Returns the source at some places of an integration's commit, from the bot's mirror. At most `SourceExcerpt.maximumPlaces` are read, and what
    /// the mirror does not have is left out.
    package func excerpts(
        of record: IntegrationRecord, at places: [SourcePlace]
    ) async -> [SourcePlace: SourceExcerpt] {
        await runner.excerpts(of: record, at: places)
    }

    /// Returns the secrets of the attempt that a one-time token belongs to, by variable, for the node that runs it.
    /// - Parameters:
    ///   - use: Random text that the asking process made. The same process may ask again until the job starts.
    ///   - peer: The address of the asking machine.
    /// - Throws: `.notFound` if no open attempt has the token; `.conflict` if it was used before, or the attempt gets no secrets any more;
    ///   `.unavailable` if they cannot be read now.
    package func secrets(
        token: String, use: String, from peer: String
    ) async throws(OperationError) -> [String: String] {
        do throws(SecretHandover.Refusal) {
            return try await runner.jobs.handover.redeem(token: token, use: use, from: peer)
        } catch {
            switch error {
            case .unknown:
                throw OperationError(
                    .notFound, "No open attempt has this token. A service that has just started knows it in a moment.")
            case .refused(let reason): throw OperationError(.conflict, "This is refused: \(reason).")
            case .unavailable:
                throw OperationError(.unavailable, "The secrets cannot be read now; ask again, and see the log.")
            }
        }
    }

    /// The path of the supervisor's program, which runs some steps. `JobDescription.Step.shownCommand` leaves it out.
    package var tools: String { runner.jobs.planner.tools }

    /// Returns the text that a user pastes into a forge's settings or a `post-receive` hook for this bot.
    /// - Throws: `.notFound`; `.invalid` if the bot names no webhook secret.
    package func webhookInstructions(bot: Name, forge: Forge) async throws(OperationError) -> String {
        try await registry.webhookInstructions(bot, forge: forge)
    }
}

/// An overview of the service: its bots, and the problems of their files.
package struct Overview: Sendable {
    package var bots: [BotSpecification]
    /// The errors of bot files, each as `file:line:column: error: …`. Such a bot continues with its last valid form, if it had one.
    package var problems: [String]
    /// How jobs are isolated from the machine. Every page warns if they are not, with the reason.
    package var isolation: Isolation
    /// The reason why sandboxed steps with the network reach the machine's loopback although the settings do not ask for it; `nil` if they do not.
    /// Every page shows it.
    package var loopbackReason: String?
    package var version: String

    package init(
        bots: [BotSpecification], problems: [String], isolation: Isolation, loopbackReason: String?,
        version: String
    ) {
        self.bots = bots
        self.problems = problems
        self.isolation = isolation
        self.loopbackReason = loopbackReason
        self.version = version
    }
}
