/// A filter for the changed files that matter to a bot. Its patterns are those of gitignore(5) without `[…]` and `\`, which are refused.
///
/// The last pattern that matches a file decides. A pattern with `!` in front excludes files. If the first pattern excludes, all other files are
/// included.
package struct PathFilter: Hashable, Sendable, Codable {
    /// The patterns as written: `Sources/`, `*.swift`, `!docs/**`.
    package let patterns: [String]

    /// The limits of a bot file: the number of patterns, and the bytes of each.
    package static let maximumPatterns = 100
    package static let maximumLength = 255

    package init(_ patterns: [String]) { self.patterns = patterns }

    /// Returns why a text is not a pattern; `nil` if it is one.
    package static func problem(with text: String) -> String? {
        let body = text.hasPrefix("!") ? text.dropFirst() : text[...]
        if text.utf8.count > maximumLength { return "it has more than \(maximumLength) bytes" }
        if body.split(separator: "/").isEmpty { return "it names nothing" }
        if body.split(separator: "/").contains(where: { $0 == ".." || $0 == "." }) {
            return "no path has `.` or `..` in it"
        }
        // Read literally they would match no file, and every push would be skipped.
        if let special = text.first(where: { $0 == "[" || $0 == "\\" }) {
            return "`\(special)` is not read in it; write `*` or `?`, or a pattern for each name"
        }
        return nil
    }

    /// Returns the first path that matters; `nil` if none does. A path that ends in `/` is a directory, such as a submodule.
    package func first(in paths: some Sequence<String>) -> String? {
        let compiled = patterns.map(Pattern.init)
        let isInByDefault = compiled.first?.isExcluding ?? true
        return paths.first { path in
            let names = path.split(separator: "/").map(String.init)
            return compiled.last { $0.matches(names, isDirectory: path.hasSuffix("/")) }.map { !$0.isExcluding }
                ?? isInByDefault
        }
    }

    private struct Pattern {
        enum Part {
            case anyDirectories
            case literal(String)
            case pattern(RefPattern)
        }
        var isExcluding: Bool
        /// Whether it matches only directories, and therefore what they contain.
        var isOfDirectories: Bool
        var parts: [Part]

        init(_ text: String) {
            isExcluding = text.hasPrefix("!")
            var body = isExcluding ? text.dropFirst() : text[...]
            isOfDirectories = body.hasSuffix("/") || body.hasSuffix("/**")
            if body.hasSuffix("/**") { body = body.dropLast(3) }
            var names = body.split(separator: "/")
            // Everything, also in the root: `/**`, `**/**`.
            if text.hasSuffix("/**"), names.allSatisfy({ $0 == "**" }) {
                isOfDirectories = false
                names = ["**"]
            }
            // Consecutive `**` are the same as one.
            names = names.enumerated().filter { $0.offset == 0 || $0.element != "**" || names[$0.offset - 1] != "**" }
                .map(\.element)
            // A pattern without a slash, except at its end, matches at any depth.
            let isAnchored = body.dropLast(body.hasSuffix("/") ? 1 : 0).contains("/") || text.hasSuffix("/**")
            parts =
                (isAnchored ? [] : [.anyDirectories])
                + names.map { name in
                    if name == "**" { return .anyDirectories }
                    return name.contains { $0 == "*" || $0 == "?" }
                        ? .pattern(RefPattern(String(name))) : .literal(String(name))
                }
        }

        /// Whether the pattern matches the file or a directory that contains it.
        func matches(_ names: [String], isDirectory: Bool) -> Bool {
            var states = closed([0])
            for (index, name) in names.enumerated() {
                var next: Set<Int> = []
                for state in states where state < parts.count {
                    switch parts[state] {
                    case .anyDirectories: next.insert(state)
                    case .literal(let text): if text == name { next.insert(state + 1) }
                    case .pattern(let pattern): if pattern.matches(name) { next.insert(state + 1) }
                    }
                }
                states = closed(next)
                if states.contains(parts.count), !isOfDirectories || isDirectory || index < names.count - 1 {
                    return true
                }
                if states.isEmpty { return false }
            }
            return false
        }

        /// Adds the states after each `**`, which can also match no directory at all.
        private func closed(_ states: Set<Int>) -> Set<Int> {
            var closed = states
            for var state in states {
                while state < parts.count, case .anyDirectories = parts[state] {
                    state += 1
                    closed.insert(state)
                }
            }
            return closed
        }
    }
}
