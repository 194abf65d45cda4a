/// Who is told when what a branch stands at changes.
package struct Notice: Hashable, Sendable, Codable {
    package var name: Name
    /// Nothing: every branch and tag that the bot watches.
    package var branches: [RefPattern]?
    /// Tags it tells of; default none, or all that the bot watches when `branches` is not given either.
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

    /// By which way.
    package enum Target: Hashable, Sendable, Codable {
        /// A mail to each; and to the authors of what is told of, whose addresses are in one of the domains.
        case mail(to: [MailAddress], authorsIn: [String])
        /// A signed request to a URL; `secret` is the name of what it is signed with.
        case webhook(url: String, secret: String)
    }

    /// The most mails of one message; over that the others are left out, which the message says.
    package static let maximumRecipients = 20

    /// Whether it tells of a ref. Neither a branch nor a tag is told of: a pull request has its own page and comment.
    package func matches(_ ref: RefName) -> Bool {
        guard ref.branch != nil || ref.tag != nil else { return false }
        return RefPattern.isAmong(ref, branches: branches, tags: tags)
    }

    /// Which of the transitions of one integration it tells of: the first that it asks for.
    package func told(of transitions: [Transition]) -> Transition? { transitions.first(where: when.contains) }
}
