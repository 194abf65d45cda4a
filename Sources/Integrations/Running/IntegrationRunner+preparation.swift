import Basics
import Issues
import Jobs
import Logging
import Model
import Settings
import SourceControl
import Storage

extension IntegrationRunner {
    enum Preparation {
        case ready(IntegrationRecord)
        /// It ends here, by the code's fault or the repository's, never by ours.
        case refused(Verdict, String)
        /// It is left out, for this reason.
        case skipped(String, CommitSummary)
    }

    /// An integration that waits for a server that does not answer; the reason is stored.
    struct ServerAwaited: Error {
        let server: String
    }

    /// For so long a server that does not answer is tried again, from when the integration began.
    static let longestWait = Duration.seconds(24 * 3600)

    /// Does the same as `prepare`, once the disk has room for the fetch, and again if the disk filled up meanwhile: that is not the repository's
    /// fault.
    func prepareWithRoom(
        _ record: IntegrationRecord, bot: BotSpecification, mirror: Mirror
    ) async throws -> Preparation {
        for _ in 1..<JobRunner.maximumPreparations {
            try await jobs.awaitRoom(for: record.id)
            let preparation = try await prepare(record, bot: bot, mirror: mirror)
            guard case .refused(.checkoutError, let reason) = preparation, await jobs.disk.look().wasShort else {
                return preparation
            }
            logger.warning(
                "an integration is prepared once more, since the disk was full",
                metadata: ["integration": "\(record.id)", "error": "\(reason)"])
        }
        return try await prepare(record, bot: bot, mirror: mirror)
    }

    /// Brings the commit and its submodules into the mirrors, holds it there, and records the resolved recipe. A rerun after a
    /// restart finds the recipe recorded and uses that.
    /// - Throws: `ServerAwaited`.
    func prepare(
        _ record: IntegrationRecord, bot: BotSpecification, mirror: Mirror
    ) async throws -> Preparation {
        if record.pull != nil, jobs.isolation.isolation != .sandbox {
            return .refused(.canceled, JobIsolation.pullRequestReason)
        }
        // The bot file may have become stricter since it was queued, and a rerun is of any age.
        if let pull = record.pull, !pull.isTrusted || bot.pullRequests == .off, !bot.lets(pull) {
            return .refused(.canceled, "the bot file now says pull-requests: \(bot.pullRequests.rawValue)")
        }
        var record = record
        let commit: CommitContent
        do {
            if let pull = record.pull {
                record = try await merged(record, pull, mirror)
                if let reason = try await refusal(of: record, pull, bot: bot, mirror) {
                    return .refused(.canceled, reason)
                }
            }
            commit = try await content(of: record, bot: bot, mirror: mirror)
            if record.recipe == nil, let reason = try await skipReason(of: record, commit, bot: bot, mirror: mirror) {
                return .skipped(reason, Self.summary(of: commit))
            }
        } catch let error as SourceControlError {
            return try Self.refused(error)
        }
        // Before any job: those that run have their files.
        if [.preparing, .beforeTriggers].contains(record.state.step) {
            do {
                try await fetchSubmodules(of: record, bot: bot, mirror: mirror)
            } catch let error as SourceControlError {
                try Self.rethrowStop(error)
                if record.recipe == nil { try await describe(record, commit, mirror) }
                return .refused(.checkoutError, "\(error)")
            }
            // What it waited for is had.
            if record.reason != nil { try await store.explain([record.id], nil) }
        }
        if record.recipe != nil {
            // That a job waits to be started is said again where it does.
            if record.reason != nil { try await store.explain([record.id], nil) }
            return .ready(record)
        }
        let ruling: CommitContent
        do {
            ruling = try await self.ruling(commit, of: record, bot: bot, mirror)
        } catch let error as SourceControlError {
            return try Self.refused(error)
        }
        let reading = await recipes.recipe(of: ruling, bot: bot, on: record.ref)
        guard let recipe = Self.usable(reading) else {
            try await describe(record, commit, mirror)
            try await refuse(record, reading.diagnostics, mirror: mirror)
            return .refused(.buildErrors, reading.errors.first?.description ?? "the recipe cannot be read")
        }
        let preparation = Store.Preparation(
            recipe: recipe, commit: try await summary(of: commit, record, mirror), step: Self.firstStep(of: bot))
        return .ready(try await store.recordPreparation(of: record.id, preparation, at: clock.now()))
    }

    /// Stores whose commit it is when the integration ends here, since no later stage does.
    private func describe(_ record: IntegrationRecord, _ commit: CommitContent, _ mirror: Mirror) async throws {
        try await store.describe(record.id, commit: try await summary(of: commit, record, mirror))
    }

    /// Ends an integration whose commit cannot be read.
    private static func refused(_ error: SourceControlError) throws -> Preparation {
        try rethrowStop(error)
        guard hasGone.contains(error.code) else { return .refused(.checkoutError, "\(error)") }
        return .refused(.canceled, "\(gone(error.code)): \(error)")
    }

    /// The server's answers that the commit is no longer available: its ref was deleted or replaced, or its repository deleted, moved or made
    /// private. `commitMissing` is none of them: it is about the mirror.
    private static let hasGone: Set<SourceControlError.Code> = [
        .refGone, .notACommit, .repositoryNotFound, .credentialsMissing, .credentialsRefused,
        .redirected,
    ]

    private static func gone(_ code: SourceControlError.Code) -> String {
        switch code {
        case .notACommit: "not a commit"
        case .repositoryNotFound: "repository gone"
        case .redirected: "repository moved"
        case .credentialsMissing, .credentialsRefused: "repository not to be read"
        default: "ref gone"
        }
    }

    /// The daemon stops, or a user cancels: then nothing is known about the commit.
    private static func rethrowStop(_ error: SourceControlError) throws {
        if error.code == .canceled || Task.isCancelled { throw CancellationError() }
    }

    /// Reads the recipe of a waiting commit that is already in the mirror, so that it can be stored with the beginning. Returns `nil` if anything
    /// is missing or wrong: `prepare` reports that once the integration has begun.
    func readEarly(_ id: IntegrationID, bot: BotSpecification) async -> Store.Preparation? {
        guard let record = try? await store.integration(id), record.state == .queued, record.recipe == nil,
            record.ref.tag == nil, record.pull == nil,
            let mirror = try? await remotes.mirror(for: bot),
            let commit = try? await mirror.content(
                of: record.commit, file: Self.file(of: bot), limit: Self.limit, project: ProjectTree.reader)
        else { return nil }
        if Self.maySkip(record, commit, bot: bot) { return nil }
        // They may have to be fetched.
        if Self.mayHaveSubmodules(commit, bot) { return nil }
        guard let recipe = Self.usable(await recipes.recipe(of: commit, bot: bot, on: record.ref)) else { return nil }
        return Store.Preparation(recipe: recipe, commit: Self.summary(of: commit), step: Self.firstStep(of: bot))
    }

    /// Returns the recipe of a reading without errors; `nil` if there is an error, which refuses the integration.
    static func usable(_ reading: Reading<Recipe>) -> Recipe? { reading.errors.isEmpty ? reading.value : nil }

    private static func mayHaveSubmodules(_ commit: CommitContent, _ bot: BotSpecification) -> Bool {
        bot.hasSubmodules && commit.rootEntries.contains(".gitmodules")
    }

    static func summary(of commit: CommitContent) -> CommitSummary {
        let details = commit.details
        return CommitSummary(
            subject: details.subject, author: details.authorName, committedAt: details.committedAt, tree: details.tree)
    }

    /// The step to enter with the recipe; `nil`: triggers come first.
    private static func firstStep(of bot: BotSpecification) -> IntegrationStep? {
        bot.triggers.contains { $0.phase == .before } ? nil : .running
    }

    /// The file with the recipe, where the bot has none of its own.
    static func file(of bot: BotSpecification) -> String? { bot.recipe == nil ? RecipeReader.fileName : nil }
    static let limit = RecipeReader.maximumSize + 1

    /// The commit's content; the commit is fetched if it is missing. The mirror keeps it as soon as its first job runs; until then nothing removes
    /// it.
    private func content(
        of record: IntegrationRecord, bot: BotSpecification, mirror: Mirror
    ) async throws -> CommitContent {
        if let content = try await read(record.commit, bot: bot, mirror) {
            if record.ref.tag != nil, record.recipe == nil { try await fetchTag(record, mirror) }
            return content
        }
        try await fetch(record, mirror)
        return try await mended(record.commit, of: record, bot: bot, mirror)
    }

    /// Reads a commit.
    /// - Returns: `nil` if it has to be fetched: it is not in the mirror, or the mirror is damaged or has to be verified.
    private func read(
        _ commit: CommitID, bot: BotSpecification, _ mirror: Mirror
    ) async throws(SourceControlError) -> CommitContent? {
        do throws(SourceControlError) {
            return try await mirror.content(
                of: commit, file: Self.file(of: bot), limit: Self.limit, project: ProjectTree.reader)
        } catch {
            guard error.code == .mirrorDamaged else { throw error }
            return nil
        }
    }

    /// Reads a fetched commit. If it cannot be read, for example because the mirror was damaged since, it is fetched once more. That verifies and
    /// repairs the mirror.
    /// - Parameter commit: The commit that `Mirror.fetch` fetches for the integration.
    /// - Throws: `mirrorDamaged` if it cannot be read then either; `ServerAwaited`.
    func mended(
        _ commit: CommitID, of record: IntegrationRecord, bot: BotSpecification, _ mirror: Mirror
    ) async throws -> CommitContent {
        if let content = try await read(commit, bot: bot, mirror) { return content }
        try await ask(record.repository, for: record) { try await mirror.fetch(record) }
        let content = try await mirror.content(
            of: commit, file: Self.file(of: bot), limit: Self.limit, project: ProjectTree.reader)
        guard let content else {
            throw SourceControlError(
                code: .mirrorDamaged, operation: "reading \(commit.abbreviated) for \(record.id)",
                message: "it was fetched, but cannot be read in the mirror \(mirror.path); "
                    + "check the mirror's disk and rerun the integration")
        }
        return content
    }

    /// The tag's own object, where the commit was here before it. Without it the job's tag is a light one.
    private func fetchTag(_ record: IntegrationRecord, _ mirror: Mirror) async throws {
        do throws(SourceControlError) {
            try await mirror.fetch([record.ref: record.commit])
        } catch {
            if error.code == .canceled { throw error }
            logger.warning(
                "a tag's object could not be fetched", metadata: ["integration": "\(record.id)", "error": "\(error)"])
        }
    }

    private func fetchSubmodules(of record: IntegrationRecord, bot: BotSpecification, mirror: Mirror) async throws {
        guard try await !remotes.hasSubmodules(of: record.commit, in: mirror, for: bot) else { return }
        try await ask("the submodules of \(record.repository)", for: record) {
            try await remotes.fetchSubmodules(of: record.commit, in: mirror, for: bot)
        }
    }

    private func fetch(_ record: IntegrationRecord, _ mirror: Mirror) async throws {
        try await ask(record.repository, for: record) { try await mirror.fetch(record) }
        try await fetchDefaultBranch(for: record, mirror)
        try await repack(mirror)
    }

    /// Fetches the default branch for jobs that ask what their branch changed (`JobHistory`). If that fails, the integration goes on without
    /// `origin/…`.
    private func fetchDefaultBranch(for record: IntegrationRecord, _ mirror: Mirror) async throws {
        let before = try await store.historyBefore(record.id)
        guard let branch = before.defaultBranch, branch != record.ref, let commit = before.defaultCommit else { return }
        do throws(SourceControlError) {
            if try await mirror.contains(commit) { return }
            try await mirror.fetch([branch: commit])
        } catch {
            if error.code == .canceled { throw error }
            logger.info(
                "the default branch could not be fetched",
                metadata: ["integration": "\(record.id)", "error": "\(error)"])
        }
    }

    /// Asks a server, unless it is known not to answer.
    /// - Parameter server: Any name for what is asked.
    /// - Throws: `ServerAwaited` when it does not answer, and is worth another try; what `body` throws.
    func ask(_ server: String, for record: IntegrationRecord, _ body: () async throws -> Void) async throws {
        if let outage = await circuitBreaker.begin(server) {
            try await store.explain([record.id], outage.sentence)
            throw ServerAwaited(server: server)
        }
        do {
            try await body()
        } catch let error as SourceControlError
            where [.unreachable, .timedOut].contains(error.code) && !Task.isCancelled
        {
            let outage = await circuitBreaker.failed(server, "\(error)", retryAfter: error.retryAfter)
            logger.warning(
                "a server does not answer; Martlet tries again",
                metadata: ["integration": "\(record.id)", "next": "\(outage.next)", "error": "\(error)"])
            let begun = record.startedAt ?? record.queuedAt
            if clock.now() - begun >= Self.longestWait {
                throw SourceControlError(
                    code: error.code, operation: error.operation,
                    message: "the server did not answer for \(Self.longestWait.components.seconds / 3600) hours: "
                        + "\(error.message); rerun it when it does", underlying: error)
            }
            try await store.explain(try await waiting(with: record), outage.sentence)
            throw ServerAwaited(server: server)
        } catch {
            if Task.isCancelled || (error as? SourceControlError)?.code == .canceled {
                await circuitBreaker.stopped(server)
            } else {
                await circuitBreaker.answered(server)
            }
            throw error
        }
        await circuitBreaker.answered(server)
    }

    /// Those that wait for the same repository, with this one: what is known of its server is the reason of all.
    private func waiting(with record: IntegrationRecord) async throws -> [IntegrationID] {
        try await store.preparing(of: record.repository).filter { $0.id == record.id || $0.reason != nil }.map(\.id)
    }

    /// What is needed now and then after fetches; what fails in it fails no integration.
    func repack(_ mirror: Mirror) async throws(SourceControlError) {
        do throws(SourceControlError) {
            try await mirror.repack()
        } catch {
            if error.code == .canceled { throw error }
            logger.warning(
                "a mirror could not be repacked", metadata: ["mirror": "\(mirror.path)", "error": "\(error)"])
        }
    }

    /// The recipe of a commit that is in the mirror.
    func recipe(
        of commit: CommitID, bot: BotSpecification, mirror: Mirror
    ) async throws -> Reading<Recipe> {
        let content = try await mirror.content(
            of: commit, file: Self.file(of: bot), limit: Self.limit, project: ProjectTree.reader)
        guard let content else {
            throw SourceControlError(
                code: .commitMissing, operation: "reading \(commit.abbreviated)",
                message: "it is not in the mirror; fetch it first")
        }
        return await recipes.recipe(of: content, bot: bot, on: nil)
    }

    /// A recipe with errors is the code's fault: its messages are the integration's issues.
    private func refuse(
        _ record: IntegrationRecord, _ diagnostics: [Diagnostic], mirror: Mirror
    ) async throws {
        // Nothing else was checked, so earlier issues remain.
        var issues = IssueComparison(configurations: [])
        issues.hasLookedAtCode = false
        issues.recipe = diagnostics.filter { $0.severity == .error }.map { diagnostic in
            Finding(
                category: .error, message: diagnostic.message, rule: Finding.Rule.recipe, path: diagnostic.file,
                line: diagnostic.line, column: diagnostic.column)
        }
        try await recordParting(of: record, mirror)
        let comparison = try await compare(
            record, issues, with: try await issuesBefore(record), mirror: mirror, tested: 0)
        try await store.completeIssues(
            of: record.id, issues: comparison.issues, summary: comparison.summary, at: clock.now())
    }

    /// Turns an error of ours into the integration's result, and says so in the log: the one place where it is logged.
    /// - Returns: Whether that could be stored.
    func fail(_ id: IntegrationID, with error: any Error) async -> Bool {
        logger.error(
            "an integration failed by a fault of Martlet or its machine",
            metadata: ["integration": "\(id)", "error": "\(error)"])
        do {
            try await jobs.endLeft(of: id)
            try await store.apply(
                .completed(.internalError, triggerFailed: false), to: id, at: clock.now(), reason: "\(error)")
            return true
        } catch is CancellationError {
            return false
        } catch {
            logger.error("that could not be stored", metadata: ["integration": "\(id)", "error": "\(error)"])
            return false
        }
    }
}
