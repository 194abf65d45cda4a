package import Model
package import Storage
package import Transfer

/// Composes and sends one kind of message.
///
/// It is called for one message of a destination at a time. It must end by itself, so every request has a time limit.
package protocol OutboxSender: Sendable {
    /// The kind of messages that it sends. Each kind has one sender.
    var kind: OutboxDestination.Kind { get }

    /// Composes the message from the stored state, and sends it once.
    ///
    /// If `message.isUncertain`, an earlier try may have arrived. If the service would count a second one as another message, the sender first checks
    /// whether it has the message.
    /// - Returns: The outcome. The texts are stored and shown. They contain no secret, and quote at most one sentence of the service's answer.
    func send(_ message: OutboxMessage) async -> OutboxOutcome
}

/// The outcome of a try to send a message.
package enum OutboxOutcome: Sendable, Hashable {
    /// The service has received the message.
    /// - Parameter note: How the arrival is known, if not from the service's answer.
    case sent(note: String? = nil)
    /// The message has no content or no recipient any more.
    case unneeded(String)
    /// Martlet has no such bot now. If its file does not come back, the message is dropped.
    case absent
    /// The message will never be accepted as it is. The text states what was tried, on what, what happened, and what to do.
    case refused(String)
    /// The message may be accepted later.
    case failed(OutboxFailure)
    /// The daemon stops. The next one continues with the message as possibly delivered.
    case interrupted
}

/// The reason why a message was not accepted, if it may be accepted later.
package struct OutboxFailure: Sendable, Hashable {
    /// What was tried, on what, and what happened.
    package var reason: String
    /// The pause that the service asked for; `nil` if it asked for none.
    package var retryAfter: Duration?
    /// Whether the destination fails, so that its other messages wait, too.
    package var isOfDestination: Bool
    /// Whether the message may have arrived all the same.
    package var mayHaveArrived: Bool
    /// Whether the service refuses the credentials, or its certificate or host key is not trusted.
    package var isOfCredentials: Bool

    package init(
        _ reason: String, retryAfter: Duration? = nil, isOfDestination: Bool = true, mayHaveArrived: Bool = false,
        isOfCredentials: Bool = false
    ) {
        self.isOfCredentials = isOfCredentials
        self.reason = reason
        self.retryAfter = retryAfter
        self.isOfDestination = isOfDestination
        self.mayHaveArrived = mayHaveArrived
    }
}

/// The bots as their files define them now, for the senders of messages.
package protocol BotSource: Sendable {
    /// Returns a bot in its last valid form; `nil` if no bot has this name.
    func bot(_ name: Name) async -> BotSpecification?
}

/// Reads the pause that a service asks for by `Retry-After`: seconds, or a date (RFC 9110, section 10.2.3).
package enum RetryAfter {
    /// The pause if a service states that it is asked too often, but no valid time (docs.github.com, "Rate limits for the REST API").
    package static let usual = Duration.seconds(60)
    /// The longest pause, a day. A longer one is shortened to this.
    private static let longest = Duration.seconds(86_400)

    /// Returns the pause. `nil` without the header; zero for a date that has passed.
    package static func duration(in headers: TransferHeaders, now: Timestamp) -> Duration? {
        guard let text = headers["retry-after"] else { return nil }
        if let seconds = Int64(text) { return seconds < 0 ? usual : .seconds(min(seconds, 86_400)) }
        guard let date = HTTPDate.parse(text) else { return usual }
        return min(max(.zero, Timestamp(secondsSinceEpoch: date) - now), longest)
    }
}
