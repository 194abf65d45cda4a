package import Model
package import Storage

/// Composes and sends one kind of message.
///
/// It is called for one message of a destination at a time, and must come to an end by itself: every request has a time limit.
package protocol OutboxSender: Sendable {
    /// The kind that it sends; one sender a kind.
    var kind: OutboxDestination.Kind { get }

    /// Composes the message from what is stored now, and sends it once.
    ///
    /// Where `message.isUncertain`, an earlier try may have arrived: a sender whose service would count it twice looks there first.
    /// - Returns: What came of it. Its texts are stored and shown: no secret, and no more of a foreign answer than a sentence.
    func send(_ message: OutboxMessage) async -> OutboxOutcome
}

/// What came of a try to send a message.
package enum OutboxOutcome: Sendable, Hashable {
    /// The service has it.
    /// - Parameter note: How that is known, where it was not the answer.
    case sent(note: String? = nil)
    /// There is nothing to say, or nobody to say it to.
    case unneeded(String)
    /// The service does not know the bot now: its file may be back in a moment, and where it stays away nobody is to be told.
    case absent
    /// It will never be taken as it is: what was tried, on what, what happened, what to do.
    case refused(String)
    /// It may be taken later.
    case failed(OutboxFailure)
    /// The daemon stops: the next one takes it up, as what may have arrived.
    case interrupted
}

/// Why a message was not taken that may be taken later.
package struct OutboxFailure: Sendable, Hashable {
    /// What was tried, on what, what happened.
    package var reason: String
    /// How long the service wants to be left alone; nothing: it did not say.
    package var retryAfter: Duration?
    /// Whether it is the destination that fails, so that its other messages wait too.
    package var isOfDestination: Bool
    /// Whether the message may have arrived all the same.
    package var mayHaveArrived: Bool

    package init(
        _ reason: String, retryAfter: Duration? = nil, isOfDestination: Bool = true, mayHaveArrived: Bool = false
    ) {
        self.reason = reason
        self.retryAfter = retryAfter
        self.isOfDestination = isOfDestination
        self.mayHaveArrived = mayHaveArrived
    }
}
