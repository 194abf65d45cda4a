/// Something that a person or the service did, for the audit.
package struct AuditEntry: Hashable, Sendable {
    package var action: AuditAction
    /// The person's name; `service` for what the service did by itself.
    package var actor: String
    /// The client's address; `nil` for a peer of the Unix socket, and for the service itself.
    package var address: String?
    /// The bot; `nil` if it is about none.
    package var bot: Name?
    /// What was acted on: an integration, a token, a secret, a version or a file.
    package var subject: String
    /// Further words, such as a token's role or the reason of a mute.
    package var detail: String?

    /// The most bytes of the actor, the subject and the detail. Longer texts are cut.
    package static let maximumActor = 128
    package static let maximumSubject = 300
    package static let maximumDetail = 1000
    /// How long a row is kept unless the settings say otherwise: 400 days, so that a year can be looked back on.
    package static let usualAge: Duration = .seconds(400 * 86_400)
    /// The actor of what the service does by itself.
    package static let service = "service"

    /// Creates an entry. Texts become one line each, and longer ones are cut.
    package init(
        _ action: AuditAction, actor: String, address: String? = nil, bot: Name? = nil, subject: String,
        detail: String? = nil
    ) {
        self.action = action
        self.actor = actor.cutLine(Self.maximumActor)
        self.address = address
        self.bot = bot
        self.subject = subject.cutLine(Self.maximumSubject)
        self.detail = detail?.cutLine(Self.maximumDetail)
    }
}

/// The kinds of entries in the audit. The raw values are stored.
package enum AuditAction: String, Hashable, Sendable, CaseIterable {
    case signedIn = "signed-in"
    case signedOut = "signed-out"
    case sessionEnded = "session-ended"
    case tokenCreated = "token-created"
    case tokenRevoked = "token-revoked"
    case secretStored = "secret-stored"
    case secretRemoved = "secret-removed"
    case secretRotated = "secret-rotated"
    case secretOverlapEnded = "secret-overlap-ended"
    case integrated
    case rerun
    case canceled
    case approved
    case muted
    case unmuted
    case retried
    case yanked
    case pruned
    case restored
    case paused
    case resumed
    case drained
    case botDeleted = "bot-deleted"
    case botRenamed = "bot-renamed"
    case botCleaned = "bot-cleaned"
    case settings
    case botFile = "bot-file"

    /// What was done, for the log and for pages.
    package var sentence: String {
        switch self {
        case .signedIn: "somebody signed in"
        case .signedOut: "somebody signed out"
        case .sessionEnded: "a session was ended"
        case .tokenCreated: "a token was made"
        case .tokenRevoked: "a token was revoked"
        case .secretStored: "a secret was stored"
        case .secretRemoved: "a secret was removed"
        case .secretRotated: "a secret was rotated"
        case .secretOverlapEnded: "the overlap of a rotated secret was ended"
        case .integrated: "an integration was asked for"
        case .rerun: "a rerun was asked for"
        case .canceled: "an integration was canceled"
        case .approved: "a pull request was approved"
        case .muted: "an issue was muted"
        case .unmuted: "an issue was unmuted"
        case .retried: "a message was sent again"
        case .yanked: "a version was yanked"
        case .pruned: "old integrations were removed"
        case .restored: "a backup was restored"
        case .paused: "integrations were paused"
        case .resumed: "a pause was ended"
        case .drained: "the service was drained"
        case .botDeleted: "a bot was deleted"
        case .botRenamed: "a bot was renamed"
        case .botCleaned: "a bot's workspaces were removed"
        case .settings: "settings were taken up"
        case .botFile: "a bot file was taken up"
        }
    }
}

extension String {
    /// The text as one line of at most `maximum` bytes.
    func cutLine(_ maximum: Int) -> String {
        let line = inOneLine
        guard line.utf8.count > maximum else { return line }
        return String(decoding: line.utf8.prefix(maximum - 3), as: UTF8.self).replacing("\u{FFFD}", with: "") + "…"
    }
}
