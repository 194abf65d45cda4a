import Model
import Storage

/// Bitbucket Cloud ("Event payloads") and Bitbucket Data Center ("Event payload").
extension ForgeEventReader {
    func bitbucketCloud() throws(OperationError) -> ForgeEvent {
        switch word {
        case "repo:push": return try cloudPush()
        case "pullrequest:created": return cloudPull(.opened)
        case "pullrequest:updated": return cloudPull(.updated)
        case "pullrequest:fulfilled", "pullrequest:rejected": return cloudPull(.closed)
        default: return other
        }
    }

    func bitbucketServer() throws(OperationError) -> ForgeEvent {
        switch word {
        case "repo:refs_changed", "mirror:repo_synchronized":
            // Of more refs than its limit it names none.
            if body["refLimitExceeded"].isTrue { return moving([]) }
            guard let changes = body["changes"].elements else { throw unclear(.null) }
            var claims: [RefClaim] = []
            for change in try bounded(changes) {
                let name = change["ref"]["id"].text == nil ? change["refId"] : change["ref"]["id"]
                claims.append(try claim(name, change["fromHash"], change["toHash"]))
            }
            return moving(claims)
        // An older plug-in's, with the Cloud's body.
        case "repo:push": return try cloudPush()
        case "pr:opened": return pullRequest(.opened, serverPull(.opened))
        case "pr:from_ref_updated", "pr:modified": return pullRequest(.updated, serverPull(.updated))
        case "pr:reopened": return pullRequest(.reopened, serverPull(.reopened))
        case "pr:merged", "pr:declined", "pr:deleted": return pullRequest(.closed, serverPull(.closed))
        case "diagnostics:ping": return ForgeEvent(kind: .ping, word: word, repository: repository)
        default: return other
        }
    }

    /// Of a push of many refs the list is empty: something moved all the same.
    private func cloudPush() throws(OperationError) -> ForgeEvent {
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

    /// A side's commit; nothing where the ref was not there.
    private func commit(_ side: ForgeJSON, of name: String) throws(OperationError) -> CommitID? {
        guard side.isObject else { return nil }
        guard let commit = side["target"]["hash"].text.flatMap({ CommitID($0) }) else { throw unclear(.string(name)) }
        return commit
    }
}
