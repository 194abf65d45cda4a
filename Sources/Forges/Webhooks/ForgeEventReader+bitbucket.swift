import Model
import Storage

/// Reads events of Bitbucket Cloud ("Event payloads") and Bitbucket Data Center ("Event payload").
extension ForgeEventReader {
    func bitbucketCloud() throws(ForgeError) -> ForgeEvent {
        switch word {
        case "repo:push": return try cloudPush()
        case "pullrequest:created": return cloudPull(.opened)
        case "pullrequest:updated": return cloudPull(.updated)
        case "pullrequest:fulfilled", "pullrequest:rejected": return cloudPull(.closed)
        default: return other
        }
    }

    func bitbucketServer() throws(ForgeError) -> ForgeEvent {
        switch word {
        case "repo:refs_changed", "mirror:repo_synchronized":
            // If more refs changed than its limit, it names none of them.
            if body["refLimitExceeded"].isTrue { return moving([]) }
            guard let changes = body["changes"].elements else { throw unclear(.null) }
            var claims: [RefClaim] = []
            for change in try bounded(changes) {
                let name = change["ref"]["id"].text == nil ? change["refId"] : change["ref"]["id"]
                claims.append(try claim(name, change["fromHash"], change["toHash"]))
            }
            return moving(claims)
        // An older plug-in sends this event, with the body of Bitbucket Cloud.
        case "repo:push": return try cloudPush()
        case "pr:opened": return pullRequest(.opened, serverPull(.opened))
        case "pr:from_ref_updated", "pr:modified": return pullRequest(.updated, serverPull(.updated))
        case "pr:reopened": return pullRequest(.reopened, serverPull(.reopened))
        case "pr:merged", "pr:declined", "pr:deleted": return pullRequest(.closed, serverPull(.closed))
        case "diagnostics:ping": return ForgeEvent(kind: .ping, word: word, repository: repository)
        default: return other
        }
    }

    /// Reads a push. If it moved many refs, the list is empty; the result is an event without claims.
    private func cloudPush() throws(ForgeError) -> ForgeEvent {
        guard let changes = body["push"]["changes"].elements else { throw unclear(.null) }
        var claims: [RefClaim] = []
        for change in try bounded(changes) {
            let (old, new) = (change["old"], change["new"])
            let side = new.isObject ? new : old
            guard let name = side["name"].text, let type = side["type"].text else { throw unclear(side["name"]) }
            let ref = try refName(name, isTag: type.hasSuffix("tag"))
            let (before, after) = (try commit(old, of: name), try commit(new, of: name))
            claims.append(RefClaim(ref: ref, before: before, after: after))
        }
        return moving(claims)
    }

    /// Returns the commit of one side; `nil` if the ref did not exist there.
    private func commit(_ side: ForgeJSON, of name: String) throws(ForgeError) -> CommitID? {
        guard side.isObject else { return nil }
        guard let commit = side["target"]["hash"].text.flatMap({ CommitID($0) }) else { throw unclear(.string(name)) }
        return commit
    }
}
