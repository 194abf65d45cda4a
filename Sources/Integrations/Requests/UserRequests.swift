package import Basics
package import Jobs
package import Logging
package import Model
import SourceControl
package import Storage

/// Carries out the requests of users by page, API or command.
package struct UserRequests: Sendable {
    let store: Store
    let registry: BotRegistry
    private let remotes: Remotes
    let scheduler: Scheduler
    let clock: WallClock
    let queue: Signal
    let logger: Logger

    /// - Parameter queue: Notified after an integration is queued.
    package init(
        store: Store, registry: BotRegistry, remotes: Remotes, scheduler: Scheduler, clock: WallClock, queue: Signal,
        logger: Logger
    ) {
        self.store = store
        self.registry = registry
        self.remotes = remotes
        self.scheduler = scheduler
        self.clock = clock
        self.queue = queue
        self.logger = logger
    }

    /// Queues an integration; see `Operations.integrate`.
    package func integrate(
        bot name: Name, revision: String?, isClean: Bool, by actor: String
    ) async throws(OperationError) -> IntegrationRecord {
        guard let bot = await registry.bot(name) else {
            throw OperationError(.notFound, "there is no bot \(name); `martlet bots` lists them")
        }
        do {
            let (ref, commit) = try await target(revision, of: bot)
            // The read starts while the integration is being stored, for the run that follows.
            remotes.mirror(holding: bot.repository)?.readAhead(
                commit, file: IntegrationRunner.file(of: bot), limit: IntegrationRunner.limit)
            let new = NewIntegration(
                bot: name, ref: ref, commit: commit, cause: .person, requestedBy: actor, isRelease: bot.isRelease(ref),
                isClean: isClean)
            let now = clock.now()
            let record = try await store.queue(new, at: now) {
                .caused($0, by: .person, named: actor, at: now)
            }
            queue.notify()
            return record
        } catch let error as OperationError {
            throw error
        } catch let error as SourceControlError {
            throw OperationError(
                error.code == .invalidRevision ? .invalid : .unavailable, error.message, underlying: error)
        } catch let error as StoreError {
            throw stored(error)
        } catch {
            throw OperationError(
                .unavailable, "the repository of \(name) cannot be reached: \(error)", underlying: error)
        }
    }

    /// Returns the ref and the commit of a revision. A commit that the last scan found at a ref's tip needs no further scan.
    private func target(_ revision: String?, of bot: BotSpecification) async throws -> (RefName, CommitID) {
        if let commit = revision.flatMap({ CommitID($0) }),
            let ref = try await store.refs(at: commit, of: bot.repository).first
        {
            return (ref, commit)
        }
        let mirror = try await remotes.mirror(for: bot)
        return try await target(revision, of: bot, listing: try await mirror.scan(), mirror: mirror)
    }

    /// Returns the ref and the commit of a revision in a listing. A branch has precedence over a tag of the same name. A commit is integrated for the
    /// ref whose tip it is, or else for a branch that has it in its history.
    private func target(
        _ revision: String?, of bot: BotSpecification, listing: Listing, mirror: Mirror
    ) async throws -> (RefName, CommitID) {
        guard let revision else {
            guard let branch = listing.defaultBranch, let commit = listing.heads[branch] else {
                let reason = bot.whyUnwatched(heads: listing.heads.keys, defaultBranch: listing.defaultBranch)
                throw OperationError(
                    .notFound,
                    "the repository has no default branch; name a branch, a tag or a commit"
                        + (reason.map { ". The bot integrates no pushes: \($0.text); \($0.remedy)" } ?? ""))
            }
            return (branch, commit)
        }
        for ref in [RefName(revision), RefName(branch: revision), RefName(tag: revision)] {
            if let commit = listing.heads[ref] { return (ref, commit) }
        }
        var resolved: CommitID?
        // Any revision other than hexadecimal digits would be in the listing.
        let isAbbreviated = (7...64).contains(revision.utf8.count) && revision.allSatisfy(\.isHexDigit)
        if let full = CommitID(revision), try await mirror.contains(full) {
            resolved = full
        } else if isAbbreviated {
            try await fetch(listing, mirror)
            resolved = try await mirror.resolve(revision)
        }
        guard let commit = resolved else {
            throw OperationError(
                .notFound,
                "the repository has no branch, tag or commit \(revision.prefix(200)); a commit needs at least 7 digits of its id"
            )
        }
        if let ref = listing.heads.filter({ $0.value == commit }).keys.min() { return (ref, commit) }
        return (try await branch(having: commit, of: bot, listing: listing, mirror: mirror), commit)
    }

    /// Fetches all refs that are available. The fetch of the others is not affected by a ref that was deleted or replaced since the scan, or that is
    /// a tag of a file.
    private func fetch(_ listing: Listing, _ mirror: Mirror) async throws(SourceControlError) {
        do throws(SourceControlError) {
            try await mirror.fetch(listing.heads)
        } catch {
            guard [.refGone, .notACommit].contains(error.code) else { throw error }
        }
    }

    /// Returns a branch that has a commit in its history. A job gets the secrets, the workspace and the triggers of its ref, so the ref must contain
    /// the commit. The default branch is tried first, then those that the bot watches.
    private func branch(
        having commit: CommitID, of bot: BotSpecification, listing: Listing, mirror: Mirror
    ) async throws -> RefName {
        try await fetch(listing, mirror)
        func rank(_ ref: RefName) -> Int {
            ref == listing.defaultBranch ? 0 : bot.watches(ref, defaultBranch: listing.defaultBranch) ? 1 : 2
        }
        let branches = listing.heads.filter { $0.key.branch != nil }
            .sorted { (rank($0.key), $0.key) < (rank($1.key), $1.key) }
        for (ref, tip) in branches where try await mirror.contains(tip) {
            if try await mirror.isAncestor(commit, of: tip) { return ref }
        }
        throw OperationError(
            .notFound, "no branch has the commit \(commit.abbreviated) in its history; push one that does")
    }

    /// Cancels an integration; see `Operations.cancel`.
    package func cancel(_ id: IntegrationID, grace: Duration, by actor: String) async throws(OperationError) {
        let cancelRequest = Cancellation.Request(reason: "canceled by \(actor)", grace: grace)
        guard (.zero)...Cancellation.Request.longestGrace ~= grace else {
            throw OperationError(
                .invalid, "the grace is 0 to \(Cancellation.Request.longestGrace.components.seconds) seconds")
        }
        do {
            guard let record = try await store.integration(id) else {
                throw OperationError(.notFound, "there is no integration \(id)")
            }
            try requireOpen(record)
            if await !scheduler.isRunning(id), try await endWaiting(record, cancelRequest) { return }
            // The integration has started, or another request came first. If a rerun was withdrawn meanwhile, a cancellation request for it would hit
            // the next rerun, which has the same number.
            if let now = try await store.integration(id) { try requireOpen(now) }
            try await store.markEnding(id, run: record.run)
            try await scheduler.cancel(id, run: record.run, cancelRequest)
        } catch let error as OperationError {
            throw error
        } catch let error as StoreError {
            throw stored(error)
        } catch {
            throw OperationError(.internal, "\(id) could not be canceled", underlying: error)
        }
    }

    private func requireOpen(_ record: IntegrationRecord) throws(OperationError) {
        guard record.state.verdict != nil else { return }
        throw OperationError(
            .conflict, "\(record.id) is completed already: \(record.state.result?.description ?? "")")
    }

    /// Ends an integration that waits.
    /// - Returns: Whether it waited. If not, it has started, possibly just now.
    private func endWaiting(_ record: IntegrationRecord, _ cancelRequest: Cancellation.Request) async throws -> Bool {
        do throws(StoreError) {
            if record.run > 1 {
                _ = try await store.takeBackRerun(of: record.id, at: clock.now())
            } else {
                try await store.cancel(queued: record.id, at: clock.now(), reason: cancelRequest.reason)
            }
            return true
        } catch {
            guard error.code == .illegalTransition else { throw error }
            return false
        }
    }

    func stored(_ error: StoreError) -> OperationError {
        logger.error("a user's request could not be stored", metadata: ["error": "\(error)"])
        return OperationError(.unavailable, "it could not be stored; try again", underlying: error)
    }
}

extension NewEvent {
    /// Returns the ledger's row of an integration that was requested by a user or the schedule, not caused by a ref update.
    /// - Parameter event: The request: `integrate`, `rerun`, `approve`.
    static func caused(
        _ integration: IntegrationRecord, by source: EventSource, named name: String, event: String = "integrate",
        at time: Timestamp
    ) -> NewEvent {
        NewEvent(
            repository: integration.repository, bot: integration.id.bot, source: source, hook: source.rawValue,
            event: event, receivedAt: time,
            claims: [RefClaim(ref: integration.ref, before: nil, after: integration.commit)], outcome: .integrated,
            reason: "\(integration.id), asked for by \(name)")
    }
}

extension UserRequests {
    /// Approves the head of a pull request; see `Operations.approve`.
    package func approve(
        _ number: Int, of name: Name, commit text: String, by actor: String
    ) async throws(OperationError) -> IntegrationRecord {
        guard let bot = await registry.bot(name) else {
            throw OperationError(.notFound, "there is no bot \(name); `martlet bots` lists them")
        }
        // An abbreviated id could mean another commit once someone has made one with the same digits.
        guard let commit = CommitID(text) else {
            throw OperationError(
                .invalid, "`commit` is the whole id of the head that you reviewed, 40 hexadecimal digits")
        }
        guard registry.isolation == .sandbox else {
            throw OperationError(.conflict, JobIsolation.pullRequestReason)
        }
        let now = clock.now()
        let approval: PullRequestApproval
        do {
            approval = try await store.approve(
                number, of: name, head: commit, by: actor,
                supersede: bot.supersede(on: RefName(pullRequest: number)), at: now,
                answer: { bot.answer(to: $0, defaultBranch: $1) },
                recording: { .caused($0, by: .person, named: actor, event: "approve", at: now) })
        } catch {
            throw stored(error)
        }
        switch approval {
        case .queued(let record):
            queue.notify()
            return record
        case .noted(let record): return record
        case .unknown:
            throw OperationError(
                .notFound,
                "no scan has found a pull request \(number); its repository's host must announce it by a webhook")
        case .closed: throw OperationError(.conflict, "pull request \(number) is closed")
        case .moved(let head):
            throw OperationError(
                .conflict,
                "the head of pull request \(number) is \(head) now; review that commit and approve it instead")
        case .refused(let reason):
            throw OperationError(.conflict, "pull request \(number) is not integrated: \(reason)")
        }
    }
}

extension UserRequests {
    /// Tries to send a message again; see `Operations.retryMessage`.
    package func retryMessage(_ id: Int64, by actor: String) async throws(OperationError) -> OutboxMessage {
        do throws(StoreError) {
            let message = try await store.retryMessage(id, at: clock.now())
            logger.notice("a message is tried again", metadata: ["message": "\(id)", "person": "\(actor)"])
            return message
        } catch {
            switch error.code {
            case .notFound: throw OperationError(.notFound, error.message, underlying: error)
            case .illegalTransition:
                throw OperationError(
                    .conflict,
                    "message \(id) was not given up, or a newer message about the same subject has replaced it",
                    underlying: error)
            default: throw stored(error)
            }
        }
    }
}
