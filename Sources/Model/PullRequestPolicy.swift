/// A pull request as a look sees it.
package struct SeenPullRequest: Hashable, Sendable {
    package var number: Int
    package var base: RefName
    package var head: CommitID
    /// The branch of the bot's own repository whose tip the head is in the same look; nothing: it is a fork's.
    package var source: RefName?

    package init(number: Int, base: RefName, head: CommitID, source: RefName?) {
        self.number = number
        self.base = base
        self.head = head
        self.source = source
    }
}

/// What a bot does with a pull request.
package enum PullRequestAnswer: Hashable, Sendable {
    case integrates
    /// Nothing runs before an operator has approved just this head.
    case awaitsApproval
    /// Nothing of it is run, and why.
    case refuses(String)
}

extension BotSpecification {
    /// Which pull requests are integrated.
    package enum PullRequests: String, Hashable, Sendable, Codable, CaseIterable {
        case off
        /// Those whose head is the tip of a branch of the bot's own repository: whoever wrote them may push there.
        case trusted
        /// Those of forks, too, each head once an operator has approved it.
        case approved
        /// Those of forks, too, without asking anybody.
        case all
    }

    /// Whether one that was queued may still run.
    package func lets(_ pull: IntegratedPullRequest) -> Bool {
        switch pullRequests {
        case .off: false
        case .trusted: pull.isTrusted
        case .approved: pull.isTrusted || pull.approvedBy != nil
        case .all: true
        }
    }

    /// What becomes of a pull request. Only what the look saw counts, never who is said to have made it.
    package func answer(to pull: SeenPullRequest, defaultBranch: RefName?) -> PullRequestAnswer {
        if pullRequests == .off { return .refuses("the bot file says pull-requests: off") }
        guard watches(pull.base, defaultBranch: defaultBranch) else {
            return .refuses("the bot does not watch \(pull.base.shortName), into which it is to go")
        }
        if pull.source != nil { return .integrates }
        switch pullRequests {
        case .off, .trusted:
            return .refuses(
                "its head \(pull.head.abbreviated) is the tip of no branch of the repository, so it is a fork's, and the bot file says "
                    + "pull-requests: trusted")
        case .approved: return .awaitsApproval
        case .all: return .integrates
        }
    }
}
