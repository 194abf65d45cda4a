import Model
import Storage

/// Reads which pull request an event is about: its number, its base, whether it is open, and the ref of its head. The claimed author is not even
/// read.
extension ForgeEventReader {
    /// Reads the pull request of GitHub, Gitea and Forgejo. Gogs has the names of the branches in other members.
    func githubPull(_ change: ForgeEvent.PullRequestChange) -> PullRequestClaim? {
        let pull = body["pull_request"]
        let base = pull["base"]["ref"].text ?? pull["base_branch"].text
        return claim(
            change, number: body["number"].integer ?? pull["number"].integer, base: base, head: pull["head"]["sha"],
            state: pull["state"], at: pull["updated_at"]
        ) { RefName("refs/pull/\($0)/head") }
    }

    func gitlabPull(_ change: ForgeEvent.PullRequestChange) -> PullRequestClaim? {
        let attributes = body["object_attributes"]
        return claim(
            change, number: attributes["iid"].integer, base: attributes["target_branch"].text,
            head: attributes["last_commit"]["id"], state: attributes["state"], at: attributes["updated_at"]
        ) { RefName("refs/merge-requests/\($0)/head") }
    }

    func serverPull(_ change: ForgeEvent.PullRequestChange) -> PullRequestClaim? {
        let pull = body["pullRequest"]
        let base = pull["toRef"]["displayId"].text ?? pull["toRef"]["id"].text.flatMap { RefName($0).branch }
        return claim(
            change, number: pull["id"].integer, base: base, head: pull["fromRef"]["latestCommit"],
            state: pull["state"], at: pull["updatedDate"]
        ) { RefName("refs/pull-requests/\($0)/from") }
    }

    /// Reads the pull request of Bitbucket Cloud, which has no refs for pull requests. If its branch is in the same repository, that branch can be
    /// scanned. A fork's branch is only in the fork, so the event is ignored.
    func cloudPull(_ change: ForgeEvent.PullRequestChange) -> ForgeEvent {
        let pull = body["pullrequest"]
        let (source, destination) = (pull["source"], pull["destination"])
        guard let from = source["repository"]["full_name"].text, from == destination["repository"]["full_name"].text,
            let branch = source["branch"]["name"].text, let place = try? refName(branch, isTag: false)
        else {
            return ignored(
                "pull request \(change.rawValue): Bitbucket Cloud has its commits only in the fork, which Martlet does not scan"
            )
        }
        let claim = claim(
            change, number: pull["id"].integer, base: destination["branch"]["name"].text,
            head: source["commit"]["hash"], state: pull["state"], at: pull["updated_on"]
        ) { _ in place }
        return pullRequest(change, claim)
    }

    /// The highest valid number of a pull request; that of the largest forge is far below.
    private static let maximumNumber: Int64 = 1_000_000_000

    /// - Returns: `nil` if the event lacks the number or the target branch.
    private func claim(
        _ change: ForgeEvent.PullRequestChange, number: Int64?, base: String?, head: ForgeJSON, state: ForgeJSON,
        at time: ForgeJSON, place: (Int) -> RefName
    ) -> PullRequestClaim? {
        guard let number, (1...Self.maximumNumber).contains(number), let base,
            let branch = try? refName(base, isTag: false)
        else { return nil }
        // The state at the time of the event, whatever name the event has. GitLab has the state `locked` while it merges.
        let isOpen = change != .closed && state.text.map { ["open", "opened"].contains($0.lowercased()) } ?? true
        let commit = head.text.flatMap { CommitID($0) }
        return PullRequestClaim(
            number: Int(number), ref: RefName("refs/pull/\(number)/head"), place: place(Int(number)), base: branch,
            head: commit?.isZero == true ? nil : commit, isOpen: isOpen, toldAt: ForgeTime.read(time),
            change: change.claimed)
    }
}

extension ForgeEvent.PullRequestChange {
    /// The change as the store orders events of the same time.
    fileprivate var claimed: PullRequestClaim.Change {
        switch self {
        case .opened: .opened
        case .updated: .updated
        case .reopened: .reopened
        case .closed: .closed
        }
    }
}
