import Model
import Storage

/// Reads events of GitHub ("Webhook events and payloads"), and of Gogs, Gitea and Forgejo, which adopted its bodies.
extension ForgeEventReader {
    func githubFamily() throws(ForgeError) -> ForgeEvent {
        // No forge of this family sends this member. The body is another forge's, sent with the headers of this one.
        guard body["object_kind"].text == nil else {
            throw ForgeError(.invalid, "this is a body of GitLab: let it send to /webhooks/gitlab")
        }
        switch word {
        case "push": return moving([try claim(body["ref"], body["before"], body["after"])])
        case "create", "delete": return try createdOrDeleted(isCreated: word == "create")
        case "pull_request", "pull_request_sync": return pullRequest
        case "ping": return ForgeEvent(kind: .ping, word: word, repository: repository)
        default: return other
        }
    }

    /// Reads the creation or deletion of a ref. `ref` is a short name. GitHub's body has no commit; Gitea's has one in `sha`.
    private func createdOrDeleted(isCreated: Bool) throws(ForgeError) -> ForgeEvent {
        guard let type = body["ref_type"].text, type == "branch" || type == "tag" else {
            return ignored("\(word) of neither a branch nor a tag")
        }
        guard let name = body["ref"].text else { throw unclear(body["ref"]) }
        let ref = try refName(name, isTag: type == "tag")
        guard isCreated else { return moving([RefClaim(ref: ref, before: nil, after: nil)]) }
        guard let commit = body["sha"].text.flatMap({ CommitID($0) }), !commit.isZero else {
            return moving([.head(of: ref)])
        }
        return moving([RefClaim(ref: ref, before: nil, after: commit)])
    }

    private var pullRequest: ForgeEvent {
        let action = body["action"].text ?? ""
        switch action {
        case "opened": return pullRequest(.opened, githubPull(.opened))
        case "synchronize", "synchronized", "edited": return pullRequest(.updated, githubPull(.updated))
        case "reopened": return pullRequest(.reopened, githubPull(.reopened))
        case "closed": return pullRequest(.closed, githubPull(.closed))
        default: return ignored("pull request \(action.prefix(60)): neither its commits nor its target changed")
        }
    }
}
