package import Basics
package import Logging
package import Model
package import Storage

/// Pauses and resumes the service and its bots, at the request of operators.
package struct ServiceControl: Sendable {
    private let store: Store
    private let scheduler: Scheduler
    private let boot: MachineBoot
    private let clock: WallClock
    private let queue: Signal
    private let logger: Logger

    /// - Parameters:
    ///   - boot: The machine's boot, with which a drain ends.
    ///   - queue: Notified when paused integrations may start.
    package init(
        store: Store, scheduler: Scheduler, boot: MachineBoot, clock: WallClock, queue: Signal, logger: Logger
    ) {
        self.store = store
        self.scheduler = scheduler
        self.boot = boot
        self.clock = clock
        self.queue = queue
        self.logger = logger
    }

    /// What is paused, and what still runs.
    package struct State: Sendable {
        package var pauses: Pauses
        /// The number of integrations that run.
        package var running: Int
        /// Whether no integration runs, so that the machine can be stopped without interrupting a job. Always `false` if something may start.
        package var isDrained: Bool
    }

    /// Returns what is paused, and what still runs.
    /// - Throws: `.unavailable` if the database cannot be read.
    package func state() async throws(OperationError) -> State {
        let pauses = try await stored { () throws(StoreError) in try await store.pauses() }
        let isIdle = await scheduler.isIdle
        return State(
            pauses: pauses, running: await scheduler.runningCount,
            isDrained: isIdle && (pauses.drain ?? pauses.service) != nil)
    }

    /// Starts no new integration from now on: of one bot, or of any. Events are stored, and those that run go on. It holds after a restart.
    /// - Parameters:
    ///   - bot: `nil` for the whole service.
    ///   - reason: Why, for all who see the queue; `nil` if unsaid.
    /// - Throws: `.notFound` for a bot that does not exist; `.invalid` for a reason that is blank or too long.
    package func pause(bot: Name?, reason: String?, by actor: String) async throws(OperationError) -> State {
        try await pause(bot.map { .bot($0) } ?? .service, reason: reason, by: actor)
    }

    /// Starts no new integration until `resume` or a restart of the machine. Those that run go on to their end.
    /// - Throws: The same as `pause`.
    package func drain(reason: String?, by actor: String) async throws(OperationError) -> State {
        try await pause(.drain, reason: reason, by: actor)
    }

    /// Ends a drain that was asked for in an earlier boot of the machine.
    func endEarlierDrain() async throws(StoreError) {
        guard try await store.endDrain(before: boot) else { return }
        let entry = AuditEntry(
            .resumed, actor: AuditEntry.service, subject: "the service", detail: "the machine was restarted")
        try await store.record(entry, at: clock.now())
    }

    private func pause(
        _ scope: Pause.Scope, reason: String?, by actor: String
    ) async throws(OperationError) -> State {
        // Pages, logs and terminals show it in one line.
        let reason = reason?.inOneLine
        if let reason {
            let limit = Pause.maximumReasonBytes
            guard reason.contains(where: { !$0.isWhitespace }), reason.utf8.count <= limit else {
                throw OperationError(.invalid, "`reason` has 1 to \(limit) bytes; leave it out to give none")
            }
        }
        let pause = Pause(scope, reason: reason, person: actor, at: clock.now())
        try await stored { () throws(StoreError) in try await store.pause(pause, boot: boot) }
        logger.notice(
            "nothing new starts",
            metadata: ["what": "\(scope.words)", "person": "\(actor)", "reason": "\(reason ?? "")"])
        return try await state()
    }

    /// Ends a pause: of one bot; or that of the whole service, with a drain. Pauses of single bots stay then.
    /// - Throws: `.notFound` for a bot that does not exist; `.conflict` if there is no such pause.
    package func resume(bot: Name?, by actor: String) async throws(OperationError) -> State {
        let wasPaused = try await stored { () throws(StoreError) in
            guard let bot else {
                let (service, drain) = (try await store.resume(.service), try await store.resume(.drain))
                return service || drain
            }
            return try await store.resume(.bot(bot))
        }
        guard wasPaused else {
            throw OperationError(
                .conflict,
                bot.map { "\($0) is not paused; a pause of the whole service ends with `martlet resume`" }
                    ?? "the service is neither paused nor drained; `martlet resume BOT` ends the pause of a bot")
        }
        logger.notice(
            "a pause was ended",
            metadata: ["what": "\((bot.map { Pause.Scope.bot($0) } ?? .service).words)", "person": "\(actor)"])
        queue.notify()
        return try await state()
    }

    /// Lets publishing go on that a restore holds.
    /// - Parameter lost: The versions that were published after the restored backup was made. No other bytes get their numbers; at most
    ///   `maximumLost`.
    /// - Throws: `.conflict` if publishing is not held; `.invalid` for too many versions.
    package func resumePublishing(
        lost: [(product: Name, version: SemanticVersion)], by actor: String
    ) async throws(OperationError) -> State {
        guard lost.count <= Self.maximumLost else {
            throw OperationError(.invalid, "at most \(Self.maximumLost) versions can be named at once")
        }
        let state = try await state()
        guard state.pauses.publishing != nil else {
            throw OperationError(.conflict, "publishing is not held; it is after `martlet restore`")
        }
        let now = clock.now()
        _ = try await stored { () throws(StoreError) in
            try await store.resumePublishing(lost: lost, by: actor, at: now)
        }
        logger.notice(
            "publishing goes on",
            metadata: [
                "person": "\(actor)",
                "published": "\(lost.map { "\($0.product) \($0.version)" }.joined(separator: ", "))",
            ])
        queue.notify()
        return try await self.state()
    }

    /// The most lost versions of one request.
    package static let maximumLost = 1000

    private func stored<Value>(_ body: () async throws(StoreError) -> Value) async throws(OperationError) -> Value {
        do throws(StoreError) {
            return try await body()
        } catch {
            switch error.code {
            case .notFound: throw OperationError(.notFound, error.message + "; `martlet bots` lists them")
            case .tooLarge: throw OperationError(.invalid, error.message)
            default:
                throw OperationError(
                    .unavailable, "the pause could not be stored or read; try again", underlying: error)
            }
        }
    }
}

extension Pause.Scope {
    /// What is paused, for the log.
    fileprivate var words: String {
        switch self {
        case .service: "the service"
        case .drain: "the service, until the machine restarts"
        case .publishing: "publishing"
        case .bot(let bot): "the bot \(bot)"
        }
    }
}
