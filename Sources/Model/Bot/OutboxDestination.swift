/// A destination outside the service that is notified of a bot's integrations, and the moments that it is notified of.
package struct OutboxDestination: Hashable, Sendable, Codable {
    /// The kind of message. Each has its own sender.
    package enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// A commit status at a forge.
        case status
        /// The single comment on a pull request.
        case comment
        case mail
        /// A signed request to a URL of the operator's.
        case webhook

        /// Whether a newer message replaces an unsent older one about the same subject. Messages that show a state are replaced; messages that report
        /// an event are all sent.
        package var isReplaceable: Bool { self == .status || self == .comment }
    }

    /// A moment in the life of an integration that a message can be about.
    package enum Moment: String, Hashable, Sendable, Codable, CaseIterable {
        /// An integration was queued, for the first time or again.
        case queued
        /// An integration was started.
        case started
        /// An integration was completed.
        case completed
        /// A job of an integration was queued, started, or got its verdict.
        case jobs
        /// A commit is not integrated, for a stated reason.
        case skipped
        /// A version was published.
        case published
    }

    package var kind: Kind
    /// The name of the receiver; for a status it is the address of the forge's interface. Messages of one kind, name and account are sent one after
    /// the other, so a slow receiver delays only its own. Never a secret.
    package var name: String
    /// The name of the secret for access, if refusals and limits apply to each account separately; for a webhook, the bot. If it is `nil`, all
    /// messages of the same name wait together.
    package var account: String?
    /// Whether the receiver keeps a commit's statuses by ref, so that two branches at one commit each have their own.
    package var isByRef = false
    /// The moments in the order of `Moment`, each once.
    package var moments: [Moment]
    /// The notice that is sent on transitions, which are not moments.
    package var notice: Notice?

    package init(kind: Kind, name: String, account: String? = nil, isByRef: Bool = false, moments: [Moment]) {
        self.kind = kind
        self.name = name
        self.account = account
        self.isByRef = isByRef
        self.moments = moments
    }

    /// Creates the destination of a notice. All mail has the same destination. The name of a webhook's destination is its URL's host and port,
    /// because the rest of the URL may grant access. Many bots can share one host, as with chat services, so each bot has its own destination there.
    package init(_ notice: Notice, of bot: Name) {
        switch notice.target {
        case .mail: self.init(kind: .mail, name: "mail", moments: [])
        case .webhook(let url, _):
            let host = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? ""
            let end = host.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? host.endIndex
            self.init(kind: .webhook, name: String(url[..<end]), account: bot.description, moments: [])
        }
        self.notice = notice
    }
}
