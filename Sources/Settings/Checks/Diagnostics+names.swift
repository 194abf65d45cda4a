import Model

extension Diagnostics {
    /// The longest pattern of branches or tags, in bytes.
    static let maximumPattern = 255

    /// Reads a list of ref patterns, or a single one; `nil` if none is written.
    mutating func patterns(_ node: YAMLNode?, _ key: String) -> [RefPattern]? {
        guard let items = items(node, key) else { return nil }
        var patterns: [RefPattern] = []
        for item in items {
            guard let text = line(item, key) else { continue }
            if text.utf8.count > Self.maximumPattern || text.contains(where: \.isWhitespace) {
                error(
                    "\(Printable.quoted(text)) matches no ref: a blank in it, or longer than \(Self.maximumPattern)",
                    at: item.position)
            } else if text.hasPrefix("refs/") {
                error("write the short name in `\(key)`, without `refs/heads/` or `refs/tags/`", at: item.position)
            } else {
                patterns.append(RefPattern(text))
            }
        }
        return patterns
    }

    /// Reads the name of a secret; `nil` if none is written, or after an error.
    mutating func secretName(_ node: YAMLNode?, _ key: String) -> String? {
        guard let node, let text = line(node, key) else { return nil }
        guard SecretStore.isName(text) else {
            error(
                "`\(key)` is the name of a secret (letters, digits, `.`, `_`, `-`, at most 64), not its value; "
                    + "`martlet secret set NAME` stores one", at: node.position)
            return nil
        }
        return text
    }

    /// Reads patterns of files below the repository's root; `nil` if none are written.
    mutating func filePatterns(_ node: YAMLNode?, _ key: String) -> [String]? {
        guard let items = items(node, key) else { return nil }
        var patterns: [String] = []
        for item in items {
            guard let text = line(item, key) else { continue }
            if FilePath.isBeneath(text) {
                patterns.append(text)
            } else {
                error(
                    "\(Printable.quoted(text)) leaves the repository; `\(key)` is relative to its root, without `..`",
                    at: item.position)
            }
        }
        return patterns
    }
}
