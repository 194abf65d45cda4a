package import Model
package import Storage
package import Transfer

/// Everything that the HTTP interface and the command-line tool may change. Each function returns only after what it
/// did is on the disk.
package struct Operations: Sendable {
    private let registry: BotRegistry
    private let intake: EventIntake
    private let requests: PersonRequests
    private let publisher: Publisher
    /// How far uploads are.
    package let board: UploadBoard
    private let retention: RetentionService
    private let disk: DiskGuard
    private let runner: IntegrationRunner

    package init(
        registry: BotRegistry, intake: EventIntake, requests: PersonRequests, publisher: Publisher, board: UploadBoard,
        retention: RetentionService, disk: DiskGuard, runner: IntegrationRunner
    ) {
        self.runner = runner
        self.registry = registry
        self.intake = intake
        self.requests = requests
        self.publisher = publisher
        self.board = board
        self.retention = retention
        self.disk = disk
    }

    /// What the disk is short of, in words; `nil` if it has enough room.
    package var diskShortage: String? { disk.shortage }

    /// Verifies and stores a push. No network is used before it returns.
    /// - Throws: `.unauthenticated` for a bot without a webhook secret, a missing or wrong signature; `.notFound`
    ///   never (an unknown bot is answered like a wrong signature, so that names cannot be probed); `.invalid` for a
    ///   body that is not a push; `.conflict` for a delivery id seen with another body; `.unavailable` when it could
    ///   not be stored, so that the sender tries again.
    package func receive(_ push: PushRequest) async throws(OperationError) -> PushAcceptance {
        try await intake.receive(push)
    }

    /// Verifies and stores a forge's delivery, by the rules of the forge that its URL names. No network is used before it returns.
    /// An authentic event that moves no ref is stored as ignored and asks for no look.
    /// - Throws: As `receive(_:)` of a push; `.invalid` for another forge's delivery and a body that cannot be read.
    package func receive(_ delivery: ForgeDelivery) async throws(OperationError) -> PushAcceptance {
        try await intake.receive(delivery)
    }

    /// How many deliveries were refused for their signature since the start.
    package var refusedDeliveries: Int { intake.refusals.total }

    /// Queues an integration at a user's request.
    /// - Parameter revision: A full ref name, a branch's or tag's name, or a commit id of at least 7 digits; `nil`: the tip of the default branch.
    /// - Throws: `.notFound` for a bot or revision that does not exist, `.unavailable` if the repository cannot be reached.
    package func integrate(
        bot: Name, revision: String?, isClean: Bool, by person: String
    ) async throws(OperationError) -> IntegrationRecord {
        try await requests.integrate(bot: bot, revision: revision, isClean: isClean, by: person)
    }

    /// Queues a completed integration for another run: its recorded recipe is replayed, with attempts and triggers beside the existing ones.
    /// - Throws: `.notFound`; `.invalid`; `.conflict` while it is not completed, and if nothing of the request can run.
    package func rerun(
        _ id: IntegrationID, _ rerun: Rerun, by person: String
    ) async throws(OperationError) -> Rerun.Acceptance {
        try await requests.rerun(id, rerun, by: person)
    }

    /// Lets one head of a fork's pull request run, for its current base. A newer head needs its own approval.
    /// - Parameter commit: The full id of the head that the approving user reviewed.
    /// - Returns: The queued integration; the existing one if no approval was needed.
    /// - Throws: `.notFound`; `.invalid` for anything but a full id; `.conflict` if the head has changed, the pull request is closed, or the bot
    ///   does not integrate it.
    package func approve(
        pullRequest number: Int, of bot: Name, commit: String, by person: String
    ) async throws(OperationError) -> IntegrationRecord {
        try await requests.approve(number, of: bot, commit: commit, by: person)
    }

    /// Cancels a queued or running integration; what ran so far keeps its log. A rerun that has not begun is taken back: the
    /// integration is what it was before.
    /// - Parameter grace: Between SIGTERM and SIGKILL, 0 to `Cancellation.Wish.longestGrace`.
    /// - Throws: `.notFound`; `.conflict` when it is completed already; `.invalid`.
    package func cancel(
        _ id: IntegrationID, grace: Duration = Cancellation.Wish.usualGrace, by person: String
    ) async throws(OperationError) {
        try await requests.cancel(id, grace: grace, by: person)
    }

    /// Silences an issue of the bot, in all branches, from an integration on.
    /// - Parameters:
    ///   - fingerprint: At least `IssueName.shortest` digits that only one issue of the integration begins with.
    ///   - expires: When it ends; `nil`: when a user takes it back.
    /// - Returns: The issue as it is now.
    /// - Throws: `.notFound`; `.invalid` for a reason that is empty or too long, or an end that is past or too far away; `.conflict` if several
    ///   issues match, it is resolved, or the bot has too many.
    package func silence(
        _ fingerprint: String, of id: IntegrationID, reason: String, expires: Timestamp?, by person: String
    ) async throws(OperationError) -> Issue {
        try await requests.silence(fingerprint, of: id, reason: reason, expires: expires, by: person)
    }

    /// Takes a silence back.
    /// - Returns: The fingerprint.
    /// - Throws: `.notFound` when no such issue is silenced; `.conflict` when several begin so.
    package func unsilence(
        _ fingerprint: String, of id: IntegrationID, by person: String
    ) async throws(OperationError) -> String {
        try await requests.unsilence(fingerprint, of: id, by: person)
    }

    /// Has a message of the outbox tried again that was given up.
    /// - Throws: `.notFound`; `.conflict` for one in another state, or with a newer one of its subject.
    package func retryMessage(_ id: Int64, by person: String) async throws(OperationError) -> OutboxMessage {
        try await requests.retryMessage(id, by: person)
    }

    /// Takes a version out of `latest` and of ranges; by its name it stays fetchable for ever.
    /// - Throws: `.notFound`.
    package func yank(product: Name, version: SemanticVersion, by person: String) async throws(OperationError) {
        try await publisher.yank(product: product, version: version, by: person)
    }

    /// Removes what retention does not keep, or says what it would remove.
    /// - Parameters:
    ///   - isDry: Whether nothing is removed.
    ///   - bot: Only this bot's; `nil`: every bot's.
    /// - Throws: `.unavailable`, after which some of it may be removed.
    package func prune(isDry: Bool, bot: Name?) async throws(OperationError) -> RetentionReport {
        do {
            return try await retention.prune(isDry: isDry, bot: bot)
        } catch {
            throw OperationError(.unavailable, "old integrations could not be removed; try again", underlying: error)
        }
    }

    /// How far the integration's uploads that are under way are, by trigger.
    package func uploads(of id: IntegrationID) -> [Name: UploadProgress] { board.uploads(of: id) }

    /// The bots as their files say now, with what is wrong in them.
    package func overview() async -> Overview { await registry.overview() }

    /// When a bot's schedule queues next; `nil` for a bot without a schedule.
    package func nextScheduled(bot: Name, after moment: Timestamp) async -> Timestamp? {
        await registry.nextScheduled(bot, after: moment)
    }

    /// One bot as its file says, every default filled in, as YAML that the same reader accepts.
    /// - Throws: `.notFound`.
    package func resolved(bot: Name) async throws(OperationError) -> String { try await registry.resolved(bot) }

    /// What the next push of each branch that a bot watches would run, archive and publish, by what is in its mirror.
    /// - Throws: `.notFound`; `.unavailable` if the mirror or the database cannot be read.
    package func pushPlans(bot name: Name) async throws(OperationError) -> PushPlans {
        let bot = try await registry.known(name)
        do {
            return try await runner.pushPlans(for: bot)
        } catch {
            throw OperationError(
                .unavailable,
                "what the next pushes of \(name) would run cannot be read; `martlet bot \(name)` says how its repository is",
                underlying: error)
        }
    }

    /// The path of our own program that runs some steps, which `JobDescription.Step.shownCommand` leaves out.
    package var supervisor: String { runner.jobs.planner.supervisor }

    /// What a person pastes into a forge or a `post-receive` hook for this bot, word for word.
    /// - Throws: `.notFound`; `.invalid` when the bot names no webhook secret.
    package func webhookInstructions(bot: Name, forge: Forge) async throws(OperationError) -> String {
        try await registry.webhookInstructions(bot, forge: forge)
    }
}
