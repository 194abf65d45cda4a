import Model

/// A reader of a bot file's `secrets`: the secrets that jobs may request.
enum JobSecretReader {
    /// The most secrets of one bot's jobs.
    static let maximumSecrets = 64

    /// Reads the secrets. Errors are added to `diagnostics`.
    /// - Returns: `nil` if `secrets` is not written.
    static func secrets(_ node: YAMLNode?, watchesTags: Bool, _ diagnostics: inout Diagnostics) -> [JobSecret]? {
        guard let node, let items = diagnostics.items(node, "secrets", allowsOne: false) else { return nil }
        if items.count > maximumSecrets {
            diagnostics.error(
                "`secrets` has more than \(maximumSecrets) items; remove some", at: items[maximumSecrets].position)
            return []
        }
        return items.compactMap { secret($0, watchesTags: watchesTags, &diagnostics) }
    }

    private static func secret(
        _ node: YAMLNode, watchesTags: Bool, _ diagnostics: inout Diagnostics
    ) -> JobSecret? {
        if case .scalar(let text, _) = node.content {
            diagnostics.error(
                "the secret names neither branches nor tags, so no job would have it; write `{ name: \(Printable.oneLine(text)), branches: [main] }`",
                at: node.position)
            return nil
        }
        guard let fields = Fields(node, Keys.jobSecret, of: "a secret", &diagnostics) else { return nil }
        let name = diagnostics.secretName(fields["name"], "name")
        if fields["name"] == nil, !fields.hasRefused {
            diagnostics.error("the secret has no `name`", at: fields.position)
        }
        guard let name else { return nil }
        var secret = JobSecret(name: name)
        secret.branches = diagnostics.patterns(fields["branches"], "branches") ?? []
        secret.tags = diagnostics.patterns(fields["tags"], "tags") ?? []
        secret.configurations = names(fields["configurations"], "configurations", &diagnostics)
        secret.steps = names(fields["steps"], "steps", &diagnostics)
        if fields["branches"] == nil, fields["tags"] == nil, !fields.hasRefused {
            diagnostics.error(
                "`branches` is required, since who pushes to a branch decides what its jobs do with the secret; write "
                    + "`branches: [main]`, or `branches: [\"**\"]` for all", at: fields.position)
        }
        if !watchesTags, !secret.tags.isEmpty {
            diagnostics.warning(
                "the bot watches no tags, so `tags` here matches none; add `tags` at the top of the file too",
                at: fields.position(of: "tags"))
        }
        return secret
    }

    private static func names(_ node: YAMLNode?, _ key: String, _ diagnostics: inout Diagnostics) -> [Name]? {
        guard let node, let items = diagnostics.items(node, key) else { return nil }
        if items.isEmpty {
            diagnostics.error("`\(key)` is empty, so nobody would have the secret; remove it", at: node.position)
        }
        return items.compactMap { diagnostics.name($0, key) }
    }
}
