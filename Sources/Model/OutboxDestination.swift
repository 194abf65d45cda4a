/// A place outside that is told what becomes of a bot's integrations, and of which of their moments.
package struct OutboxDestination: Hashable, Sendable, Codable {
    /// How it is told; each has a sender of its own.
    package enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// A commit's status at a forge.
        case status
        /// The one comment at a pull request.
        case comment
        case mail
        /// A signed request to an address of the operator's.
        case webhook

        /// Whether a newer message takes the place of an older one of the same subject that was not sent: what shows how things
        /// are is only told how they are now; what tells that something happened is told each time.
        package var isReplaceable: Bool { self == .status || self == .comment }
    }

    /// What a message can be about.
    package enum Moment: String, Hashable, Sendable, Codable, CaseIterable {
        /// An integration waits, the first time or again.
        case queued
        /// An integration was taken up.
        case started
        /// An integration came to its end.
        case completed
        /// A job of an integration was queued, began, or has its verdict.
        case jobs
        /// A commit is not integrated, for a stated reason.
        case skipped
        /// A version was published.
        case published
    }

    package var kind: Kind
    /// Whose slowness is its own: messages of one kind, name and account go one after the other. For a status the address of the forge's
    /// interface. Never a secret.
    package var name: String
    /// The name of the secret that lets us in there, where a refusal or a limit of one account is not that of another's; of a webhook the
    /// bot's. Nothing: all of the name wait together.
    package var account: String?
    /// Whether what is shown of a commit is kept by ref there, so that two branches at one commit each have it.
    package var isByRef = false
    /// In the order of `Moment`, each once.
    package var moments: [Moment]
    /// Who is told of transitions, which are no moments.
    package var notice: Notice?

    package init(kind: Kind, name: String, account: String? = nil, isByRef: Bool = false, moments: [Moment]) {
        self.kind = kind
        self.name = name
        self.account = account
        self.isByRef = isByRef
        self.moments = moments
    }

    /// Mail goes to one server, whatever its notice; a webhook to its URL's host and port, since the rest may be what lets one in there. One
    /// host takes the hooks of many, as chat services do, so each bot's have a lane of their own.
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
