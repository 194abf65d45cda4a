import Model

/// A reader of `paths:` of a bot file: a list of patterns, or lists of included and excluded ones.
enum PathsReader {
    static func paths(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> PathFilter? {
        guard let node else { return nil }
        var patterns: [String]
        if case .mapping = node.content {
            guard let fields = Fields(node, Keys.paths, of: "`paths`", &diagnostics) else { return nil }
            patterns = list(fields["include"], "include", &diagnostics)
            patterns += list(fields["exclude"], "exclude", isExcluding: true, &diagnostics)
        } else {
            patterns = list(node, "paths", &diagnostics)
        }
        guard patterns.count <= PathFilter.maximumPatterns else {
            diagnostics.error("`paths` has more than \(PathFilter.maximumPatterns) patterns", at: node.position)
            return nil
        }
        guard !patterns.isEmpty else {
            if !diagnostics.hasErrors {
                diagnostics.error("`paths` has no pattern; leave it out to integrate every push", at: node.position)
            }
            return nil
        }
        return PathFilter(patterns)
    }

    private static func list(
        _ node: YAMLNode?, _ key: String, isExcluding: Bool = false, _ diagnostics: inout Diagnostics
    ) -> [String] {
        guard let items = diagnostics.items(node, key) else { return [] }
        var patterns: [String] = []
        for item in items {
            guard let text = diagnostics.line(item, key) else { continue }
            if let problem = PathFilter.problem(with: text) {
                diagnostics.error("\(Printable.quoted(text)) is not a pattern of files: \(problem)", at: item.position)
            } else if isExcluding, text.hasPrefix("!") {
                diagnostics.error("`exclude` leaves out by itself; write it without `!`", at: item.position)
            } else {
                patterns.append(isExcluding ? "!" + text : text)
            }
        }
        return patterns
    }
}
