/// A notification when the health of a branch changes.
package struct Notice: Hashable, Sendable, Codable {
    package var name: Name
    /// The branches it reports; `nil` means every branch that the bot watches, unless `tags` is set.
    package var branches: [RefPattern]?
    /// The tags it reports. If `nil`: none if `branches` is set, otherwise all that the bot watches.
    package var tags: [RefPattern]?
    package var when: [Transition]
    package var target: Target

    package init(
        name: Name, branches: [RefPattern]? = nil, tags: [RefPattern]? = nil, when: [Transition] = Transition.allCases,
        target: Target
    ) {
        self.name = name
        self.branches = branches
        self.tags = tags
        self.when = when
        self.target = target
    }

    /// How the notice is sent.
    package enum Target: Hashable, Sendable, Codable {
        /// A mail to each address, and to those authors of the reported commits whose addresses are in one of the
        /// domains.
        case mail(to: [MailAddress], authorsIn: [String])
        /// A signed request to a URL. `secret` is the name of the secret that signs it.
        case webhook(url: String, secret: String)
    }

    /// The largest number of recipients of one message. Further ones are left out, which the message states.
    package static let maximumRecipients = 20

    /// Whether the notice reports a ref. Only branches and tags are reported: a pull request has its own page and
    /// comment.
    package func matches(_ ref: RefName) -> Bool {
        guard ref.branch != nil || ref.tag != nil else { return false }
        return RefPattern.isAmong(ref, branches: branches, tags: tags)
    }

    /// Returns the transition of one integration that the notice reports: the first that it asks for. `nil` if it asks
    /// for none.
    package func transition(among transitions: [Transition]) -> Transition? { transitions.first(where: when.contains) }
}
