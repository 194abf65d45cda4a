import Model
import Storage

/// Reads events of GitLab ("Webhook events", "System hooks").
extension ForgeEventReader {
    func gitlab() throws(ForgeError) -> ForgeEvent {
        let kind: String
        switch word {
        case "Push Hook", "Tag Push Hook", "Merge Request Hook", "System Hook":
            kind = body["object_kind"].text ?? body["event_name"].text ?? ""
        default: return other
        }
        switch kind {
        case "push", "tag_push": return moving([try claim(body["ref"], body["before"], body["after"])])
        case "repository_update":
            guard let changes = body["changes"].elements else { throw unclear(.null) }
            var claims: [RefClaim] = []
            for change in try bounded(changes) {
                claims.append(try claim(change["ref"], change["before"], change["after"]))
            }
            return moving(claims)
        case "merge_request": return mergeRequest
        default:
            // The body may also be another forge's, sent with these headers.
            guard word == "System Hook" else {
                throw ForgeError(.invalid, "the body of a \(word) of GitLab needs its kind in object_kind")
            }
            return ignored(kind.isEmpty ? "\(word) moves no ref" : "\(kind.prefix(60)) moves no ref")
        }
    }

    private var mergeRequest: ForgeEvent {
        let attributes = body["object_attributes"]
        switch attributes["action"].text {
        case "open": return pullRequest(.opened, gitlabPull(.opened))
        case "reopen": return pullRequest(.reopened, gitlabPull(.reopened))
        case "close", "merge": return pullRequest(.closed, gitlabPull(.closed))
        case "update":
            // `oldrev` is present if commits were pushed.
            let changes = body["changes"]
            let isOther = ["target_branch", "title", "description"].contains { !changes[$0].isNull }
            if attributes["oldrev"].text != nil || isOther { return pullRequest(.updated, gitlabPull(.updated)) }
            return ignored("merge request update: neither its commits nor its target changed")
        // Older system hooks have no action.
        case nil: return pullRequest(.updated, gitlabPull(.updated))
        case let action?:
            return ignored("merge request \(action.prefix(60)): neither its commits nor its target changed")
        }
    }
}
