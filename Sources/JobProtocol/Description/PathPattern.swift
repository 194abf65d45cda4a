/// A pattern for paths in a workspace: `build/*.xml`, `products/**`, `**/junit.xml`. `*` matches any characters except `/`, `?` matches one of them,
/// and a component `**` matches any number of directories.
///
/// `Model.RefPattern` differs: its `?` matches a character of several bytes, and its `**` also matches a part of a component. `GitPattern` of
/// SourceControl has git's own rules.
package struct PathPattern: Sendable, Equatable {
    /// The size limit of a pattern in bytes.
    package static let sizeLimit = 1024

    /// A component between slashes: `**`, or a name that may contain `*` and `?`.
    package enum Component: Sendable, Equatable {
        case anyDirectories
        case name([UInt8])

        fileprivate var isLiteral: Bool {
            guard case .name(let name) = self else { return false }
            return !name.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") }
        }
    }

    package let components: [Component]

    /// Parses a pattern. `.` and doubled slashes are ignored. A slash at the end matches everything in the directory.
    /// - Returns: `nil` for an invalid pattern: one that is empty, absolute or too long, or contains `..` or a NUL.
    package init?(_ text: String) {
        guard !text.hasPrefix("/"), text.utf8.count <= Self.sizeLimit, !text.utf8.contains(0) else { return nil }
        var components: [Component] = []
        for part in text.split(separator: "/") where part != "." {
            switch part {
            case "..": return nil
            case "**": if components.last != .anyDirectories { components.append(.anyDirectories) }
            default: components.append(.name(Array(part.utf8)))
            }
        }
        guard !components.isEmpty else { return nil }
        if text.hasSuffix("/"), components.last != .anyDirectories { components.append(.anyDirectories) }
        self.components = components
    }

    /// The only matching path; `nil` for a pattern with `*`, `?` or `**`.
    package var literal: [UInt8]? {
        let names = components.prefix(while: \.isLiteral)
        return names.count == components.count ? Self.path(of: names) : nil
    }

    /// The common beginning of all matching paths: the leading directories without `*` and `?`, each with its slash.
    package var literalStart: [UInt8] {
        let names = components.dropLast().prefix(while: \.isLiteral)
        return names.isEmpty ? [] : Self.path(of: names) + [UInt8(ascii: "/")]
    }

    private static func path(of components: some Collection<Component>) -> [UInt8] {
        var path: [UInt8] = []
        for case .name(let name) in components { path += (path.isEmpty ? [] : [UInt8(ascii: "/")]) + name }
        return path
    }

    /// Whether a relative path matches as a whole.
    package func matches(_ path: some Sequence<UInt8>) -> Bool {
        var progress = PathProgress([self])
        let names = Array(path).split(separator: UInt8(ascii: "/")).map(Array.init)
        guard let last = names.last else { return false }
        for name in names.dropLast() { progress = progress.entering(name) }
        return progress.matches(last)
    }

    /// Whether `name` matches one component with `*` and `?`, each of which stands for bytes. It keeps two indices and one place to go back to, so
    /// its worst time is the product of both lengths.
    package static func component(_ pattern: [UInt8], matches name: [UInt8]) -> Bool {
        var (patternIndex, nameIndex) = (0, 0)
        var back: (pattern: Int, name: Int)?
        while nameIndex < name.count {
            if patternIndex < pattern.count, pattern[patternIndex] == UInt8(ascii: "*") {
                back = (patternIndex, nameIndex)
                patternIndex += 1
            } else if patternIndex < pattern.count,
                pattern[patternIndex] == UInt8(ascii: "?") || pattern[patternIndex] == name[nameIndex]
            {
                patternIndex += 1
                nameIndex += 1
            } else if let place = back {
                back = (place.pattern, place.name + 1)
                patternIndex = place.pattern + 1
                nameIndex = place.name + 1
            } else {
                return false
            }
        }
        return pattern[patternIndex...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}

/// The progress of matching some patterns on the way down a tree. With it, only directories are entered in which a match is possible.
package struct PathProgress: Sendable {
    private let patterns: [PathPattern]
    /// For each pattern, the indices of the components that may match next.
    private var positions: [Set<Int>]

    package init(_ patterns: [PathPattern]) {
        self.patterns = patterns
        positions = patterns.map { Self.closed([0], $0) }
    }

    /// Whether anything below can match.
    package var isPossible: Bool { positions.contains { !$0.isEmpty } }

    /// Returns the progress in the directory `name`.
    package func entering(_ name: [UInt8]) -> PathProgress {
        var inner = self
        for (index, pattern) in patterns.enumerated() {
            var next: Set<Int> = []
            for position in positions[index] where position < pattern.components.count {
                switch pattern.components[position] {
                case .anyDirectories: next.insert(position)
                case .name(let component):
                    if PathPattern.component(component, matches: name) { next.insert(position + 1) }
                }
            }
            inner.positions[index] = Self.closed(next.filter { $0 < pattern.components.count }, pattern)
        }
        return inner
    }

    /// Whether one of the patterns matches a file `name` in this directory.
    package func matches(_ name: [UInt8]) -> Bool {
        zip(patterns, positions).contains { pattern, positions in
            positions.contains { position in
                guard position == pattern.components.count - 1 else { return false }
                switch pattern.components[position] {
                case .anyDirectories: return true
                case .name(let component): return PathPattern.component(component, matches: name)
                }
            }
        }
    }

    /// Adds the positions after each `**`, which can also match no directory at all.
    private static func closed(_ positions: Set<Int>, _ pattern: PathPattern) -> Set<Int> {
        var closed = positions
        for position in positions
        where position < pattern.components.count - 1 && pattern.components[position] == .anyDirectories {
            closed.insert(position + 1)
        }
        return closed
    }
}
