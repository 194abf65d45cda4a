package import Model

/// Something to be told outside, with how far that is.
package struct OutboxMessage: Hashable, Sendable {
    /// What becomes of a message. The first two are open.
    package enum State: String, Hashable, Sendable, CaseIterable {
        case waiting
        /// A try is under way, or was when a daemon was killed.
        case sending
        case sent
        /// A newer one of the same subject is sent in its place.
        case superseded
        /// When it was to be sent there was nothing to say, or nobody to say it to.
        case unneeded
        /// It was refused for good, or could not be delivered for too long. A person can have it tried again.
        case givenUp = "given-up"
    }

    /// The row's number: the order of one subject's messages, and the cursor of listings.
    package var id: Int64
    package var kind: OutboxDestination.Kind
    /// The destination's name.
    package var destination: String
    package var subject: String
    package var bot: Name
    /// Nothing where a commit was skipped.
    package var integration: IntegrationID?
    /// Nothing: it is about the integration as a whole.
    package var job: Name?
    package var content: OutboxContent
    package var state: State
    /// Those that have begun, the one under way among them.
    package var tries: Int
    /// Whether an earlier try may have arrived without our knowing: who can tell is asked before it is sent again.
    package var isUncertain: Bool
    /// When it is tried next, while it waits.
    package var nextAt: Timestamp
    /// What the last try came to.
    package var note: String?
    package var createdAt: Timestamp
    /// When its first try failed, since it was stored or a person had it tried again.
    package var failedAt: Timestamp?
    /// When it was sent, or else came to its end.
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

/// A destination for which messages wait.
package struct OutboxPlace: Hashable, Sendable {
    package var kind: OutboxDestination.Kind
    package var name: String
    /// See `OutboxDestination`; empty: not told apart.
    package var account: String

    package init(kind: OutboxDestination.Kind, name: String, account: String = "") {
        self.kind = kind
        self.name = name
        self.account = account
    }
}

/// What a try at a message came to, as it is stored.
package enum OutboxSettlement: Hashable, Sendable {
    /// It arrived; the note says how we know, where that was not the answer.
    case sent(note: String?)
    case unneeded(reason: String)
    /// What may have arrived stays so, for a person who has it tried again.
    case givenUp(reason: String, mayHaveArrived: Bool = false)
    /// It is tried again, unless a newer one of its subject waits.
    case again(at: Timestamp, reason: String, isUncertain: Bool)
}
