import Model
import Storage

/// Reads the contents of an authentic delivery in the format of the forge that its URL names.
package struct ForgeEventReader {
    let forge: Forge
    /// The forge's name of the event, as its header states it.
    let word: String
    let body: ForgeJSON

    /// Reads a delivery. An event of an unknown kind is not an error; it is `ignored`.
    /// - Throws: `.invalid` for a delivery of another forge, a body that is no JSON object, and a push that does not say what moved. `.tooLarge` for
    ///   more refs than `PushRequest.maximumUpdates`.
    package static func read(_ delivery: ForgeDelivery) throws(ForgeError) -> ForgeEvent {
        let forge = delivery.forge
        guard let word = delivery.first(of: forge.eventHeaders), !word.isEmpty else { throw otherForge(delivery) }
        guard let json = try delivery.json() else {
            throw ForgeError(.invalid, "the form has no field payload: let \(forge.title) send application/json")
        }
        let body = try ForgeJSONReader.read(json)
        guard body.isObject else { throw ForgeError(.invalid, "the body is not a JSON object") }
        let kept = word.utf8.count <= ForgeEvent.maximumWordBytes ? word : String(word.prefix(20)) + "…"
        let reader = ForgeEventReader(forge: forge, word: kept, body: body)
        switch forge {
        case .github, .gitea, .forgejo, .gogs: return try reader.githubFamily()
        case .gitlab: return try reader.gitlab()
        case .bitbucket: return try reader.bitbucketCloud()
        case .bitbucketServer: return try reader.bitbucketServer()
        case .push: throw ForgeError(.invalid, "a git server's hook sends to /webhooks/push/BOT")
        }
    }

    private static func otherForge(_ delivery: ForgeDelivery) -> ForgeError {
        let sender = Forge.allCases.first { delivery.first(of: $0.eventHeaders) != nil }
        let remedy = sender.map { "this comes from \($0.title): let it send to /webhooks/\($0)" } ?? "send it"
        let header = delivery.forge.eventHeaders.first ?? ""
        return ForgeError(.invalid, "\(delivery.forge.title) sends the header \(header); \(remedy)")
    }

    // MARK: Parts that forges share

    func ignored(_ reason: String) -> ForgeEvent {
        ForgeEvent(kind: .ignored(reason), word: word, repository: repository)
    }

    /// The ignored event for a kind that moves no ref.
    var other: ForgeEvent { ignored("\(word) moves no ref") }

    /// Returns an event about a pull request.
    /// - Parameter pull: The pull request that it is about. If `nil`, the event only asks for a scan.
    func pullRequest(_ change: ForgeEvent.PullRequestChange, _ pull: PullRequestClaim? = nil) -> ForgeEvent {
        ForgeEvent(kind: .pullRequest(change), pull: pull, word: word, repository: repository)
    }

    func moving(_ claims: [RefClaim]) -> ForgeEvent { .moving(claims, word: word, repository: repository) }

    /// Returns a claim from a full ref name and the commits before and after. An all-zero id means that the ref was created or deleted.
    func claim(_ ref: ForgeJSON, _ before: ForgeJSON, _ after: ForgeJSON) throws(ForgeError) -> RefClaim {
        guard let name = ref.text, let before = before.text.flatMap({ CommitID($0) }),
            let after = after.text.flatMap({ CommitID($0) })
        else { throw unclear(ref) }
        return RefClaim(ref: try refName(name), before: before, after: after)
    }

    /// Returns the full name of a ref from its short name.
    func refName(_ name: String, isTag: Bool) throws(ForgeError) -> RefName {
        guard !name.isEmpty else { throw unclear(.string(name)) }
        return try refName((isTag ? "refs/tags/" : "refs/heads/") + name)
    }

    func refName(_ name: String) throws(ForgeError) -> RefName {
        guard name.hasPrefix("refs/"), name.utf8.count <= NewEvent.maximumNameBytes, !name.utf8.contains(0) else {
            throw unclear(.string(name))
        }
        return RefName(name)
    }

    /// Returns the changes if they are few enough.
    /// - Throws: `.tooLarge` for more than `PushRequest.maximumUpdates`.
    func bounded(_ changes: [ForgeJSON]) throws(ForgeError) -> [ForgeJSON] {
        guard changes.count <= PushRequest.maximumUpdates else {
            throw ForgeError(.tooLarge, "a push may move at most \(PushRequest.maximumUpdates) refs")
        }
        return changes
    }

    func unclear(_ ref: ForgeJSON) -> ForgeError {
        ForgeError(
            .invalid,
            "\(word) of \(forge.title) needs a full ref name and two full commit ids; this one does not: "
                + (ref.text ?? "").prefix(200))
    }
}

/// Reads which repository a body names.
extension ForgeEventReader {
    var repository: NamedRepository {
        let repository = body["repository"]
        switch forge {
        case .github, .gitea, .forgejo, .gogs, .push:
            return NamedRepository(
                urls: ["clone_url", "ssh_url", "git_url", "html_url", "url"].map { repository[$0].text },
                path: repository["full_name"].text)
        case .gitlab:
            let project = body["project"]
            let names = ["git_http_url", "git_ssh_url", "ssh_url", "http_url", "url", "web_url", "homepage"]
            return NamedRepository(
                urls: names.flatMap { [project[$0].text, repository[$0].text] },
                path: project["path_with_namespace"].text ?? body["path_with_namespace"].text)
        case .bitbucket:
            return NamedRepository(
                urls: [repository["links"]["html"]["href"].text], path: repository["full_name"].text)
        case .bitbucketServer:
            let named = repository.isObject ? repository : body["pullRequest"]["toRef"]["repository"]
            let path = [named["project"]["key"].text, named["slug"].text].compactMap(\.self)
            let clones = named["links"]["clone"].elements ?? []
            return NamedRepository(
                urls: clones.prefix(8).map { $0["href"].text },
                path: path.count == 2 ? path.joined(separator: "/") : nil)
        }
    }
}
