import Basics
import Logging
import Model
import Storage

/// Sends the messages of one destination, and stores the outcomes.
extension Outbox {
    /// Sends the due messages of one destination, until none is due or the destination fails.
    func drain(_ place: OutboxPlace) async {
        defer {
            active[place] = nil
            signal.notify()
        }
        do {
            if let kept = unsettled[place] { try await settle(kept.message, as: kept.settlement, place) }
            while !Task.isCancelled, try await sendNext(to: place) {}
        } catch {
            logger.error(
                "sending stopped", metadata: ["destination": "\(place.name)", "error": "\(error)"])
            troubles.pause(place, for: nil, at: clock.now())
        }
    }

    /// Stores the outcome of a try. An outcome that cannot be stored is kept, and stored before the next message is sent to the destination. If the
    /// daemon ends before, the next one treats the message as possibly delivered.
    private func settle(
        _ message: OutboxMessage, as settlement: OutboxSettlement, _ place: OutboxPlace
    ) async throws {
        unsettled[place] = (message, settlement)
        try await store.settle(message, as: settlement, at: clock.now())
        unsettled[place] = nil
        settled += 1
        guard settled >= limits.trimInterval else { return }
        settled = 0
        try await store.trimOutbox(keeping: limits.keptRows, endedAfter: clock.now() + (.zero - limits.keptTime))
    }

    /// Sends the next message.
    /// - Returns: Whether there may be more to send now.
    private func sendNext(to place: OutboxPlace) async throws -> Bool {
        guard let sender = senders[place.kind],
            let message = try await store.takeMessage(
                for: place, at: clock.now(), horizon: Self.longestRetryAfter)
        else { return false }
        var outcome = await sender.send(message)
        noticeJump()
        // Something other than the daemon's stop interrupted the request.
        if outcome == .interrupted, !Task.isCancelled {
            outcome = .failed(OutboxFailure("the request was broken off", mayHaveArrived: true))
        }
        if outcome != .absent { absent[message.bot] = nil }
        let settlement: OutboxSettlement
        var goesOn = true
        switch outcome {
        case .interrupted: return false
        case .absent: settlement = absence(message)
        case .sent(let note):
            troubles.end(place)
            settlement = .sent(note: note)
        case .unneeded(let reason): settlement = .unneeded(reason: reason)
        case .refused(let reason):
            troubles.end(place)
            logger.warning(
                "a message was refused", metadata: ["message": "\(message.id)", "reason": "\(reason)"])
            settlement = .givenUp(reason: reason)
        case .failed(let failure):
            goesOn = !troubles.isOfDestination(failure, place)
            settlement = again(message, failure, at: place, isPaused: !goesOn)
        }
        recordAccess(outcome, place)
        try await settle(message, as: settlement, place)
        if !goesOn { try await expire(place) }
        return goesOn
    }

    private func recordAccess(_ outcome: OutboxOutcome, _ place: OutboxPlace) {
        var reason: String?
        switch outcome {
        case .failed(let failure): reason = failure.isOfCredentials ? failure.reason : nil
        case .sent, .refused: break
        // The destination was not asked.
        case .unneeded, .absent, .interrupted: return
        }
        access.record(reason, by: .messages("\(place.kind.rawValue) \(place.name)"))
    }

    private func again(
        _ message: OutboxMessage, _ failure: OutboxFailure, at place: OutboxPlace, isPaused: Bool
    ) -> OutboxSettlement {
        let now = clock.now()
        var next = now + OutboxTroubles.wait(after: message.tries, failure)
        if isPaused { next = max(next, troubles.pause(place, for: failure.retryAfter, at: now)) }
        let since = max(message.failedAt ?? now, startedAt ?? now)
        guard now - since >= Self.patience, message.tries >= Self.leastTries else {
            return .again(
                at: next, reason: failure.reason, isUncertain: message.isUncertain || failure.mayHaveArrived)
        }
        return .givenUp(
            reason: "given up after \(message.tries) tries in \(Self.patience.components.seconds / 3600) h; "
                + "the last: \(failure.reason); once the cause is removed, `martlet outbox --retry \(message.id)`",
            mayHaveArrived: failure.mayHaveArrived)
    }

    /// Returns how to settle a message whose bot is missing. A bot file that is being replaced is missing for a moment, so the message waits first.
    private func absence(_ message: OutboxMessage) -> OutboxSettlement {
        let now = clock.now()
        var absence = absent[message.bot] ?? (now, now)
        if now - absence.seen > Self.longestAbsence { absence.since = now }
        absence.seen = now
        absent[message.bot] = absence
        guard now - absence.since >= Self.longestAbsence else {
            return .again(
                at: now + OutboxTroubles.wait(after: message.tries, OutboxFailure("")),
                reason: "there is no bot \(message.bot) now; the message waits for it", isUncertain: message.isUncertain
            )
        }
        return .unneeded(reason: "there is no bot \(message.bot) any more")
    }

    /// Gives up messages that wait too long for a destination that continues to fail, and the oldest messages if too many wait. A failing destination
    /// is tried once in each pause, however many messages wait for it.
    private func expire(_ place: OutboxPlace) async throws {
        if let time = try await store.overflow(of: place, keeping: limits.waitingRows) {
            try await giveUp(
                place, before: time, "given up: more than \(limits.waitingRows) messages waited for \(place.name)")
        }
        let now = clock.now()
        guard let trouble = troubles[place], trouble.failures >= Self.leastTries,
            now - trouble.since >= Self.leastTime
        else { return }
        let age = now - trouble.since >= Self.patience ? Self.patience : Self.longestAge
        try await giveUp(
            place, before: now + (.zero - age),
            "given up: \(place.name) accepted no message for \(age.components.seconds / 3600) h")
    }

    private func giveUp(_ place: OutboxPlace, before time: Timestamp, _ reason: String) async throws {
        let count = try await store.expireMessages(
            for: place, storedBefore: time,
            reason: reason + "; once the cause is removed, `martlet outbox --retry` with its number", at: clock.now())
        guard count > 0 else { return }
        logger.warning(
            "messages were given up", metadata: ["destination": "\(place.name)", "count": "\(count)"])
    }
}
