import Model

/// A reader of `status:` of a bot file: the forge to which the bot reports commit statuses.
enum StatusReader {
    /// The longest addresses and names, in bytes; longer ones are refused.
    static let maximumLength = 512

    /// Reads the target. Problems are added to `diagnostics`.
    /// - Parameter repository: The repository in the bot file, from which missing values are derived.
    /// - Returns: The target with every default; `nil` if there is none, or after a problem.
    static func target(
        _ node: YAMLNode?, repository: String, isInsecure: Bool, _ diagnostics: inout Diagnostics
    ) -> StatusTarget? {
        guard let node, let fields = Fields(node, Keys.status, of: "`status`", &diagnostics) else { return nil }
        let place = RepositoryPlace(repository)
        let credentials = diagnostics.secretName(fields["credentials"], "credentials")
        if fields["credentials"] == nil {
            diagnostics.error(
                "`status` needs the name of a secret with the forge's token: `credentials: NAME`",
                at: fields.position(of: "credentials"))
        }
        guard let forge = forge(fields, place, &diagnostics) else { return nil }
        let api = api(fields, forge, place, isInsecure: isInsecure, &diagnostics)
        let project = project(fields, forge, place, &diagnostics)
        let hasComments = diagnostics.truth(fields["comments"], "comments") ?? false
        if hasComments, !forge.takesComments {
            diagnostics.error(
                "comments are not made at \(forge.rawValue) by this version; leave `comments` out",
                at: fields.position(of: "comments"))
        }
        guard let credentials, let api, let project else { return nil }
        return StatusTarget(
            forge: forge, credentials: credentials, api: api, project: project, hasComments: hasComments)
    }

    /// Returns the target as it is written in a file, line by line.
    static func lines(_ target: StatusTarget) -> [String] {
        [
            "forge: \(target.forge.rawValue)", "credentials: " + YAMLText.scalar(target.credentials),
            "api: " + YAMLText.scalar(target.api), "project: " + YAMLText.scalar(target.project),
            "comments: \(target.hasComments)",
        ]
    }

    private static func forge(
        _ fields: Fields, _ place: RepositoryPlace?, _ diagnostics: inout Diagnostics
    ) -> StatusForge? {
        if let node = fields["forge"] {
            if case .scalar("gogs", _) = node.content {
                diagnostics.error(
                    "Gogs has no interface for commit statuses; leave `status` out, its events are taken all the same",
                    at: node.position)
                return nil
            }
            return diagnostics.word(node, "forge")
        }
        if let known = place.flatMap({ StatusForge.of(host: $0.name) }) { return known }
        let names = StatusForge.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
        diagnostics.error(
            "the address in `repository` does not say which forge it is; write `forge:` with one of \(names)",
            at: fields.position)
        return nil
    }

    private static func api(
        _ fields: Fields, _ forge: StatusForge, _ place: RepositoryPlace?, isInsecure: Bool,
        _ diagnostics: inout Diagnostics
    ) -> String? {
        guard let node = fields["api"] else {
            if let place { return forge.api(at: place) }
            diagnostics.error(
                "`repository` names no host, so `status` needs the address of the forge's interface: `api: https://…`",
                at: fields.position)
            return nil
        }
        guard var text = diagnostics.line(node, "api") else { return nil }
        while text.hasSuffix("/") { text.removeLast() }
        let parts = AddressText.parts(of: text)
        let problem: String? =
            switch parts {
            case nil: "`api` is an address such as `https://git.example/api/v1`"
            case let parts? where parts.hasPassword || text.contains("@"):
                AddressText.passwordProblem("api", "; name a secret by `credentials`")
            case let parts? where parts.scheme == "http" && !isInsecure:
                "http:// shows the token to everybody on its way; use https, or add `insecure: true`"
            case let parts? where !["http", "https"].contains(parts.scheme): "`api` begins with https://"
            case let parts?:
                parts.host.isEmpty || text.utf8.count > maximumLength
                    || text.contains { $0 == "?" || $0 == "#" || $0.isWhitespace }
                    ? "`api` is an address without `?`, `#` and blanks, of at most \(maximumLength) bytes" : nil
            }
        if let problem {
            diagnostics.error(problem, at: node.position)
            return nil
        }
        return text
    }

    private static func project(
        _ fields: Fields, _ forge: StatusForge, _ place: RepositoryPlace?, _ diagnostics: inout Diagnostics
    ) -> String? {
        let node = fields["project"]
        guard let text = node == nil ? place?.project(of: forge) : diagnostics.line(node, "project") else {
            if node == nil {
                diagnostics.error(
                    "`repository` does not tell the repository's name at the forge; write `project: owner/name`",
                    at: fields.position)
            }
            return nil
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        // GitLab's groups can contain groups.
        let isDeep = parts.count > 2 && forge != .gitlab
        guard parts.count >= 2, !isDeep, text.utf8.count <= maximumLength,
            parts.allSatisfy({ !["", ".", ".."].contains($0) }), !text.contains(where: \.isWhitespace)
        else {
            diagnostics.error(
                "\(Printable.quoted(text)) is not a repository's name at \(forge.rawValue); write `project: owner/name`",
                at: node?.position ?? fields.position)
            return nil
        }
        return text
    }
}
