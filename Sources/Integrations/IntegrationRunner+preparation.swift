import Basics
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
    }

    /// Brings the commit into the mirror, holds it there, and records the resolved recipe. A rerun after a restart
    /// finds the recipe recorded and uses that.
    func prepare(_ record: IntegrationRecord, bot: BotSpecification, mirror: Mirror) async throws -> Preparation {
        do {
            let commit = try await content(of: record, bot: bot, mirror: mirror)
            if record.recipe != nil { return .ready(record) }
            let reading = Self.recipe(of: commit, bot: bot)
            guard let recipe = reading.value, !reading.diagnostics.contains(where: { $0.severity == .error }) else {
                try await refuse(record, reading.diagnostics, mirror: mirror)
                return .refused(.buildErrors, reading.errors.first?.description ?? "the recipe cannot be read")
            }
            return .ready(
                try await store.recordPreparation(
                    of: record.id, recipe: recipe, commit: Self.summary(of: commit), at: clock.now(),
                    entering: Self.firstStep(of: bot)))
        } catch let error as SourceControlError where error.code == .canceled || Task.isCancelled {
            // The daemon stops; nothing is known about the commit.
            throw CancellationError()
        } catch let error as SourceControlError where error.code == .refGone || error.code == .commitMissing {
            return .refused(.canceled, "ref gone: \(error)")
        } catch let error as SourceControlError {
            return .refused(.checkoutError, "\(error)")
        }
    }

    /// What runs of a commit that waits and is in the mirror already, so that it is stored with the beginning. Nothing where anything is
    /// missing or wrong: `prepare` finds that once it has begun, and says so.
    func readEarly(_ id: IntegrationID, bot: BotSpecification) async -> Store.Preparation? {
        guard let record = try? await store.integration(id), record.state == .queued, record.recipe == nil,
            record.ref.tag == nil,
            let mirror = try? await remotes.mirror(for: bot),
            let commit = try? await mirror.content(of: record.commit, file: Self.file(of: bot), limit: Self.limit)
        else { return nil }
        let reading = Self.recipe(of: commit, bot: bot)
        guard let recipe = reading.value, reading.errors.isEmpty else { return nil }
        return Store.Preparation(recipe: recipe, commit: Self.summary(of: commit), step: Self.firstStep(of: bot))
    }

    private static func summary(of commit: CommitContent) -> CommitSummary {
        let details = commit.details
        return CommitSummary(
            subject: details.subject, author: details.authorName, committedAt: details.committedAt, tree: details.tree)
    }

    /// What is entered with the recipe; nothing: triggers come before.
    private static func firstStep(of bot: BotSpecification) -> IntegrationStep? {
        bot.triggers.contains { $0.phase == .before } ? nil : .running
    }

    /// The file with the recipe, where the bot has none of its own.
    private static func file(of bot: BotSpecification) -> String? { bot.recipe == nil ? recipeFile : nil }
    private static let limit = RecipeReader.maximumSize + 1

    /// What the commit holds; fetched where it is not there. It is held in the mirror as soon as its first job runs: until
    /// then nothing takes it away.
    private func content(
        of record: IntegrationRecord, bot: BotSpecification, mirror: Mirror
    ) async throws -> CommitContent {
        let (file, limit) = (Self.file(of: bot), Self.limit)
        // An annotated tag of a commit that is there may not be: without a question to the server where it is.
        if record.ref.tag == nil,
            let content = try await mirror.content(of: record.commit, file: file, limit: limit)
        {
            return content
        }
        try await fetch(record, mirror)
        guard let content = try await mirror.content(of: record.commit, file: file, limit: limit) else {
            throw SourceControlError(
                code: .commitMissing, operation: "reading \(record.commit.abbreviated) for \(record.id)",
                message: "it was fetched and is not there; look at the mirror's disk")
        }
        return content
    }

    private static let recipeFile = RecipeReader.fileName
    /// Fetches that are tried before a server that cannot be reached becomes a checkout error.
    private static let maximumFetches = 4

    private func fetch(_ record: IntegrationRecord, _ mirror: Mirror) async throws {
        var backoff = Backoff(first: .seconds(2), limit: .seconds(30))
        for attempt in 1...Self.maximumFetches {
            do throws(SourceControlError) {
                try await mirror.fetch([record.ref: record.commit])
                return try await repack(mirror)
            } catch {
                guard attempt < Self.maximumFetches, [.unreachable, .timedOut].contains(error.code) else { throw error }
                logger.warning(
                    "a fetch failed and is tried again",
                    metadata: ["integration": "\(record.id)", "error": "\(error)"])
                try await timer.sleep(for: backoff.next())
            }
        }
    }

    /// What is needed now and then after fetches; what fails in it fails no integration.
    private func repack(_ mirror: Mirror) async throws(SourceControlError) {
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
        let file = bot.recipe == nil ? Self.recipeFile : nil
        let content = try await mirror.content(of: commit, file: file, limit: RecipeReader.maximumSize + 1)
        guard let content else {
            throw SourceControlError(
                code: .commitMissing, operation: "reading \(commit.abbreviated)",
                message: "it is not in the mirror; fetch it first")
        }
        return Self.recipe(of: content, bot: bot)
    }

    private static func recipe(of commit: CommitContent, bot: BotSpecification) -> Reading<Recipe> {
        let entries = commit.rootEntries
        let project = RecipeReader.Project.recognised(ProjectType.recognise(rootEntries: entries), rootEntries: entries)
        if let own = bot.recipe {
            return RecipeReader.read(
                yaml: own.yaml, file: "\(bot.name).yml", project: project, firstLine: own.firstLine)
        }
        if commit.rootEntries.contains(recipeFile) {
            guard let bytes = commit.file else {
                let message = "\(recipeFile) is no regular file, or larger than \(RecipeReader.maximumSize) bytes"
                return Reading(
                    value: nil,
                    diagnostics: [
                        Diagnostic(file: recipeFile, line: 1, column: 1, severity: .error, message: message)
                    ])
            }
            return RecipeReader.read(bytes: bytes, file: recipeFile, project: project)
        }
        return RecipeReader.withoutRecipe(project)
    }

    /// A recipe with errors is the code's fault: its messages are the integration's issues.
    private func refuse(
        _ record: IntegrationRecord, _ diagnostics: [Diagnostic], mirror: Mirror
    ) async throws {
        // Nothing else was looked for, so what was there before remains.
        var issues = IssueComparison(configurations: [])
        issues.hasLookedAtCode = false
        issues.recipe = diagnostics.filter { $0.severity == .error }.map { diagnostic in
            Finding(
                category: .error, message: diagnostic.message, rule: "martlet.recipe", path: diagnostic.file,
                line: diagnostic.line, column: diagnostic.column)
        }
        let comparison = try await compare(record, issues, mirror: mirror, tested: 0)
        try await store.completeIssues(
            of: record.id, issues: comparison.issues, summary: comparison.summary, at: clock.now())
    }

    /// Turns an error of ours into the integration's result, and says so in the log: the one place where it is logged.
    /// - Returns: Whether that could be stored.
    func fail(_ id: IntegrationID, with error: any Error) async -> Bool {
        logger.error("an integration failed by our fault", metadata: ["integration": "\(id)", "error": "\(error)"])
        do {
            try await store.apply(
                .completed(.internalError, triggerFailed: false), to: id, at: clock.now(), reason: "\(error)")
            return true
        } catch {
            logger.error("that could not be stored", metadata: ["integration": "\(id)", "error": "\(error)"])
            return false
        }
    }
}
