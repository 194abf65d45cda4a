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

/// The facts of a message as they were at the moment that caused it. The rest, such as the issues, is read when it is sent.
package struct OutboxContent: Hashable, Sendable, Codable {
    package var moment: OutboxDestination.Moment
    package var commit: CommitID
    package var ref: RefName
    /// The target branch of the pull request; `nil` for a branch or a tag.
    package var base: RefName?
    package var at: Timestamp
    /// The integration's run.
    package var run: Int
    /// The verdict of a completed integration or job.
    package var verdict: Verdict?
    package var hasFailedTrigger: Bool
    /// Whether the job has begun. A job with a verdict counts as begun.
    package var hasBegun: Bool
    /// The reason in one sentence; `nil` if there is none.
    package var reason: String?
    /// The published version.
    package var version: String?
    /// The change that a notice reports.
    package var notice: NoticeContent?

    package init(
        moment: OutboxDestination.Moment, commit: CommitID, ref: RefName, base: RefName? = nil, at: Timestamp,
        run: Int = 1,
        verdict: Verdict? = nil, hasFailedTrigger: Bool = false, hasBegun: Bool = false, reason: String? = nil,
        version: String? = nil
    ) {
        self.moment = moment
        self.commit = commit
        self.ref = ref
        self.base = base
        self.at = at
        self.run = run
        self.verdict = verdict
        self.hasFailedTrigger = hasFailedTrigger
        self.hasBegun = hasBegun
        self.reason = reason
        self.version = version
    }

    /// The part of the subject that separates a pull request's statuses from those of other refs: `:pull/main`. Its head's branch, and a pull request
    /// of the same head into another branch, may have been judged by another recipe.
    package var scope: String { base.map { ":pull/\($0.shortName)" } ?? "" }
}

/// The content of a notice's message; see `Transition`.
package struct NoticeContent: Hashable, Sendable, Codable {
    /// The notice's name.
    package var name: Name
    package var transition: Transition
    /// The mailbox that receives the message; `nil` for a webhook.
    package var recipient: String?
    /// The run that broke the branch, if it is fixed now.
    package var brokenBy: BranchHealth.Run?
    /// The published product.
    package var product: Name?
    /// The number of recipients left out because there were too many; `nil` if none.
    package var leftOut: Int?

    package init(
        name: Name, transition: Transition, recipient: String? = nil, brokenBy: BranchHealth.Run? = nil,
        product: Name? = nil
    ) {
        self.name = name
        self.transition = transition
        self.recipient = recipient
        self.brokenBy = brokenBy
        self.product = product
    }
}
