import Basics
package import Execution
package import Jobs
package import Logging
package import Model
import SourceControl
package import Storage

/// Deletes, renames and cleans bots at the request of operators.
package struct BotCare: Sendable {
    private let store: Store
    private let registry: BotRegistry
    private let state: StateDirectory
    private let retention: RetentionService
    private let caches: CacheCare
    private let survey: DiskSurvey
    private let remotes: Remotes
    private let clock: WallClock
    private let logger: Logger
    private let queue = SerialQueue(label: "bots")

    package init(
        store: Store, registry: BotRegistry, state: StateDirectory, retention: RetentionService, caches: CacheCare,
        survey: DiskSurvey, remotes: Remotes, clock: WallClock, logger: Logger
    ) {
        self.store = store
        self.registry = registry
        self.state = state
        self.retention = retention
        self.caches = caches
        self.survey = survey
        self.remotes = remotes
        self.clock = clock
        self.logger = logger
    }

    /// What deleting a bot removes and keeps.
    package struct Deletion: Sendable {
        package var contents: BotContents
        /// The disk use of its integrations' files.
        package var integrations: DiskUse
        package var workspaces: DiskUse
        /// Why it cannot be deleted now; `nil` if it can be.
        package var refusal: String?
        /// Whether it was deleted.
        package var isDone: Bool
    }

    /// Deletes a bot without a file: its integrations with rows, files and held commits, mutes, workspaces and health. Published versions stay.
    /// - Parameter isDry: Whether it only reports.
    /// - Returns: What goes and stays. The removal continues in the background, also after a restart.
    /// - Throws: `.notFound`; `.conflict` if the bot has a file or an open integration.
    package func delete(_ bot: Name, isDry: Bool, by actor: String) async throws(OperationError) -> Deletion {
        do {
            guard let contents = try await store.contents(of: bot) else { throw Self.missing(bot) }
            var deletion = Deletion(
                contents: contents, integrations: try await survey.use(of: "integrations/\(bot)"),
                workspaces: try await survey.use(of: "workspaces/\(bot)"), refusal: nil, isDone: false)
            if let open = contents.open.first { deletion.refusal = "\(open) has not ended" }
            if await isThere(bot) || !contents.isRetired { deletion.refusal = Self.fileIsThere(bot) }
            guard !isDry else { return deletion }
            if await isThere(bot) { throw OperationError(.conflict, Self.fileIsThere(bot)) }
            try await store.delete(bot, at: clock.now())
            logger.notice("a bot was deleted", metadata: ["bot": "\(bot)", "person": "\(actor)"])
            retention.sweepSoon()
            deletion.refusal = nil
            deletion.isDone = true
            return deletion
        } catch let error as OperationError {
            throw error
        } catch {
            throw Self.refused(error, "the bot \(bot) could not be deleted")
        }
    }

    /// Gives a bot without a file another name, with its history. Its former name leads to it from then on.
    /// - Throws: `.notFound`; `.conflict` if the bot has a file or an open integration, or the new name is or was another bot's.
    package func rename(_ bot: Name, to new: Name, by actor: String) async throws(OperationError) {
        do {
            if await isThere(bot) { throw OperationError(.conflict, Self.fileIsThere(bot)) }
            let (from, to) = (state.integrations, new.description)
            let isTaken = try await queue.run { () throws(FileError) in
                try Directory(opening: from).status(to) != nil
            }
            guard !isTaken else {
                throw OperationError(
                    .conflict,
                    "the state directory has files of another bot \(new) in integrations/\(new); choose another name")
            }
            try await store.rename(bot, to: new, at: clock.now())
            logger.notice(
                "a bot was renamed", metadata: ["bot": "\(bot)", "name": "\(new)", "person": "\(actor)"])
            await settle()
        } catch let error as OperationError {
            throw error
        } catch {
            throw Self.refused(error, "the bot \(bot) could not be renamed")
        }
    }

    /// Removes the workspaces of a bot that no job uses.
    /// - Throws: `.notFound`; `.unavailable` if one cannot be removed.
    package func clean(_ bot: Name, by actor: String) async throws(OperationError) -> CacheCare.Outcome {
        do {
            guard try await store.contents(of: bot) != nil else { throw Self.missing(bot) }
            let outcome = try await caches.clean(bot)
            logger.notice(
                "workspaces were removed",
                metadata: ["bot": "\(bot)", "workspaces": "\(outcome.removed)", "person": "\(actor)"])
            return outcome
        } catch let error as OperationError {
            throw error
        } catch {
            throw Self.refused(error, "the workspaces of \(bot) could not be removed")
        }
    }

    /// Moves the files of renamed bots to their present names, also those that an earlier daemon left. A failure is logged; the next start tries
    /// again.
    package func settle() async {
        do {
            for name in try await store.unsettledNames() { try await settle(name) }
        } catch {
            logger.error(
                "the files of a renamed bot could not be moved; the next start tries again",
                metadata: ["error": "\(error)"])
        }
    }

    private func settle(_ name: UnsettledName) async throws {
        let state = state
        try await queue.run { () throws(FileError) in try Self.moveFiles(of: name, in: state) }
        for held in try await store.heldCommits(of: name.bot) {
            guard let mirror = remotes.mirror(holding: held.repository) else { continue }
            if let failure = await Self.move(held, of: name, in: mirror), failure.code != .commitMissing {
                throw failure
            }
        }
        try await store.settle(name)
    }

    private static func moveFiles(of name: UnsettledName, in state: StateDirectory) throws(FileError) {
        let root = try Directory(opening: state.integrations)
        // Without it the bot has no integrations, or the directory was moved by a daemon that was stopped.
        if try root.status(name.former.description) != nil {
            try root.rename(name.former.description, to: root, name.bot.description, replace: false)
            try root.synchronize()
        }
        // A sandboxed job sees its workspace by the bot's name, so build products of the former name are of no use.
        try Directory(opening: state.workspaces).remove(name.former.description)
    }

    /// Holds a commit by the bot's present name. Without the commit in the mirror, the integration's pages show no source.
    /// - Returns: Why it failed; `nil` if it is held.
    private static func move(
        _ held: HeldCommit, of name: UnsettledName, in mirror: Mirror
    ) async -> SourceControlError? {
        do throws(SourceControlError) {
            try await mirror.hold(held.commit, for: IntegrationID(bot: name.bot, number: held.number))
            try await mirror.release(IntegrationID(bot: name.former, number: held.number))
            return nil
        } catch {
            return error
        }
    }

    private func isThere(_ bot: Name) async -> Bool { await registry.bot(bot) != nil }

    private static func fileIsThere(_ bot: Name) -> String {
        "the file of the bot \(bot) is there; move it out of the directory of bot files first, and wait two seconds"
    }

    private static func missing(_ bot: Name) -> OperationError {
        OperationError(.notFound, "there is no bot \(bot); `martlet bots` lists them")
    }

    private static func refused(_ error: any Error, _ sentence: String) -> OperationError {
        guard let error = error as? StoreError else {
            return OperationError(.unavailable, sentence + "; try again, and see the daemon's log", underlying: error)
        }
        switch error.code {
        case .notFound: return OperationError(.notFound, error.message + "; `martlet bots` lists them")
        case .illegalTransition, .exists: return OperationError(.conflict, error.message)
        default:
            return OperationError(.unavailable, sentence + "; try again, and see the daemon's log", underlying: error)
        }
    }
}
