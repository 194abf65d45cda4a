/// A pull request in a scan of the repository.
package struct SeenPullRequest: Hashable, Sendable {
    package var number: Int
    package var base: RefName
    package var head: CommitID
    /// The branch of the bot's own repository whose tip is the head in the same scan; `nil` if the head comes from a
    /// fork.
    package var source: RefName?

    package init(number: Int, base: RefName, head: CommitID, source: RefName?) {
        self.number = number
        self.base = base
        self.head = head
        self.source = source
    }
}

/// The decision of a bot about a pull request.
package enum PullRequestAnswer: Hashable, Sendable {
    case integrates
    /// It is not run before an operator has approved exactly this head.
    case awaitsApproval
    /// It is not run, for the stated reason.
    case refuses(String)
}

extension BotSpecification {
    /// Which pull requests are integrated.
    package enum PullRequests: String, Hashable, Sendable, Codable, CaseIterable {
        case off
        /// Pull requests whose head is the tip of a branch of the bot's own repository, so that their authors may push
        /// there.
        case trusted
        /// Also pull requests of forks, after an operator has approved the head.
        case approved
        /// Also pull requests of forks, without approval.
        case all
    }

    /// Whether a queued pull request may still run.
    package func lets(_ pull: IntegratedPullRequest) -> Bool {
        switch pullRequests {
        case .off: false
        case .trusted: pull.isTrusted
        case .approved: pull.isTrusted || pull.approvedBy != nil
        case .all: true
        }
    }

    /// Returns what the bot does with a pull request. Only the scan's result is used, never the author that an event
    /// states.
    package func answer(to pull: SeenPullRequest, defaultBranch: RefName?) -> PullRequestAnswer {
        if pullRequests == .off { return .refuses("the bot file says pull-requests: off") }
        guard watches(pull.base, defaultBranch: defaultBranch) else {
            return .refuses("the bot does not watch \(pull.base.shortName), into which it is to go")
        }
        if pull.source != nil { return .integrates }
        switch pullRequests {
        case .off, .trusted:
            return .refuses(
                "its head \(pull.head.abbreviated) is not the tip of a branch of the repository, so it belongs to a fork, and the bot file says "
                    + "pull-requests: trusted")
        case .approved: return .awaitsApproval
        case .all: return .integrates
        }
    }
}
