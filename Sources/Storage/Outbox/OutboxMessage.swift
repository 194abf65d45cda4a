package import Model

/// A message to an external service, with its delivery state.
package struct OutboxMessage: Hashable, Sendable {
    /// The delivery state of a message. The first two are open.
    package enum State: String, Hashable, Sendable, CaseIterable {
        case waiting
        /// An attempt is under way, or was when a daemon was killed.
        case sending
        case sent
        /// A newer message of the same subject is sent instead.
        case superseded
        /// When the message was due, there was no content or no recipient for it.
        case unneeded
        /// The message was permanently refused, or could not be delivered for too long. A user can have it sent again.
        case givenUp = "given-up"
    }

    /// The row's number. It is the order of one subject's messages, and the cursor of listings.
    package var id: Int64
    package var kind: OutboxDestination.Kind
    /// The destination's name.
    package var destination: String
    package var subject: String
    package var bot: Name
    /// The integration; `nil` if a commit was skipped.
    package var integration: IntegrationID?
    /// The job; `nil` if the message is about the whole integration.
    package var job: Name?
    package var content: OutboxContent
    package var state: State
    /// The number of attempts that have begun, including the current one.
    package var tries: Int
    /// Whether an earlier attempt may have arrived without our knowledge. If the receiver can be queried, it is queried before the message is sent
    /// again.
    package var isUncertain: Bool
    /// The time of the next attempt while the message waits.
    package var nextAt: Timestamp
    /// The result of the last attempt.
    package var note: String?
    package var createdAt: Timestamp
    /// The time when the first attempt failed since the message was stored or a user had it sent again.
    package var failedAt: Timestamp?
    /// The time when the message was sent or ended otherwise.
    package var endedAt: Timestamp?

    package init(
        id: Int64, kind: OutboxDestination.Kind, destination: String, subject: String, bot: Name,
        integration: IntegrationID?, job: Name?, content: OutboxContent, state: State, tries: Int, isUncertain: Bool,
        nextAt: Timestamp, note: String?, createdAt: Timestamp, failedAt: Timestamp? = nil, endedAt: Timestamp?
    ) {
        self.id = id
        self.kind = kind
        self.destination = destination
        self.subject = subject
        self.bot = bot
        self.integration = integration
        self.job = job
        self.content = content
        self.state = state
        self.tries = tries
        self.isUncertain = isUncertain
        self.nextAt = nextAt
        self.note = note
        self.createdAt = createdAt
        self.failedAt = failedAt
        self.endedAt = endedAt
    }
}

/// A destination with waiting messages.
package struct OutboxPlace: Hashable, Sendable {
    package var kind: OutboxDestination.Kind
    package var name: String
    /// See `OutboxDestination`; empty if accounts are not distinguished.
    package var account: String

    package init(kind: OutboxDestination.Kind, name: String, account: String = "") {
        self.kind = kind
        self.name = name
        self.account = account
    }
}

/// The result of an attempt to send a message, as it is stored.
package enum OutboxSettlement: Hashable, Sendable {
    /// The message arrived. The note states how we know, if not from the answer.
    case sent(note: String?)
    case unneeded(reason: String)
    /// The message is given up. Whether it may have arrived stays recorded, for a user who has it sent again.
    case givenUp(reason: String, mayHaveArrived: Bool = false)
    /// The message is sent again, unless a newer one of its subject waits.
    case again(at: Timestamp, reason: String, isUncertain: Bool)
}
