/// How a test tool is told to run only some tests.
///
/// A filter is a text in the tool's own syntax. A user writes one, or it is made of the names of tests. Some tools cannot name one test exactly.
/// Their filter then selects a few more tests.
package enum TestFilter: String, Hashable, Sendable, CaseIterable {
    /// `swift test --filter`: a regular expression.
    case swift
    /// `pytest -k`: an expression of parts of names.
    case pytest
    /// `go test -run`: a regular expression.
    case go
    /// Arguments for Rust's test harness, after `--`, separated by blanks.
    case cargo
    /// `ctest --tests-regex`: CMake's regular expression.
    case ctest
    /// `node --test-name-pattern`: a regular expression a line.
    case node
    /// Surefire's `-Dtest=`: `Class#method`, separated by commas.
    case maven
    /// The recipe's own command, which reads the names of the tests, one a line.
    case command

    /// The environment variable in which a command finds the filter, unless it is an argument.
    package static let variable = "MARTLET_TESTS"

    /// Whether the command finds the filter in `variable`.
    package var isInEnvironment: Bool { self == .pytest || self == .node || self == .command }

    /// Returns the arguments to add to a command that has these already.
    package func arguments(_ filter: String, after others: [String]) -> [String] {
        switch self {
        // In one argument, so that a filter that begins with a dash is no option.
        case .swift: return ["--filter=" + filter]
        case .go: return ["-run=" + filter]
        case .ctest: return ["--tests-regex", filter]
        case .maven: return ["-Dtest=" + filter, "-Dsurefire.failIfNoSpecifiedTests=false", "-DfailIfNoTests=false"]
        case .cargo:
            let words = filter.split(separator: " ").map(String.init)
            return (others.contains("--") ? [] : ["--"]) + words
        case .pytest, .node, .command: return []
        }
    }

    /// Returns the filter that selects some tests.
    /// - Parameter tests: The tests' suites and names, as they are stored.
    /// - Returns: The filter, `nil` if it selects nothing, and the tests that it cannot name.
    package func filter(
        for tests: [(suite: String, name: String)]
    ) -> (filter: String?, unnamed: [(suite: String, name: String)]) {
        var (patterns, seen, unnamed): ([String], Set<String>, [(suite: String, name: String)]) = ([], [], [])
        for test in tests {
            let isOneLine = (test.suite + test.name).unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f }
            if isOneLine, let pattern = pattern(suite: test.suite, name: test.name) {
                if seen.insert(pattern).inserted { patterns.append(pattern) }
            } else {
                unnamed.append(test)
            }
        }
        return (patterns.isEmpty ? nil : joined(patterns), unnamed)
    }

    private func joined(_ patterns: [String]) -> String {
        switch self {
        case .swift: "^(\(patterns.joined(separator: "|")))($|/)"
        case .pytest: patterns.joined(separator: " or ")
        case .go, .ctest: "^(\(patterns.joined(separator: "|")))$"
        case .cargo: "--exact " + patterns.joined(separator: " ")
        case .node, .command: patterns.joined(separator: "\n")
        case .maven: patterns.joined(separator: ",")
        }
    }

    /// Returns the part of a filter for one test; `nil` if the tool cannot name it.
    private func pattern(suite: String, name: String) -> String? {
        switch self {
        case .swift:
            // The identifiers of nested suites have `/` where a report may have a dot.
            let parts = suite.split { $0 == "." || $0 == "/" }.map { Self.escaped($0) }
            return (parts.isEmpty ? "" : parts.joined(separator: "[./]") + "[./]") + Self.escaped(name)
        case .pytest:
            // The tests of all parameters have the function's name.
            let function = name.prefix { $0 != "[" }
            guard Self.isWord(function), !["and", "or", "not"].contains(function) else { return nil }
            let parent = suite.split { $0 == "." || $0 == "/" }.last ?? ""
            return Self.isWord(parent) && !["and", "or", "not"].contains(parent)
                ? "(\(parent) and \(function))" : String(function)
        case .go:
            // Tests within a test are run with it.
            let top = name.prefix { $0 != "/" }
            return Self.isWord(top) ? String(top) : nil
        // rustdoc takes its arguments apart at blanks, so that tests in documentation cannot be named.
        case .cargo: return name.hasPrefix("-") || name.contains(" ") ? nil : name
        case .ctest: return Self.escaped(name)
        case .node: return "^\(Self.escaped(name))$"
        case .maven:
            let method = name.prefix { $0 == "_" || $0 == "$" || $0.isLetter || $0.isNumber }
            let isClass = suite.allSatisfy { $0 == "." || $0 == "_" || $0 == "$" || $0.isLetter || $0.isNumber }
            return method.isEmpty || suite.isEmpty || !isClass ? nil : "\(suite)#\(method)*"
        case .command: return suite.isEmpty ? name : "\(suite)/\(name)"
        }
    }

    private static func isWord(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.allSatisfy { $0 == "_" || $0.isLetter || $0.isNumber }
    }

    /// Returns a regular expression that matches a text only. It is the same for Swift, Go, Node and CMake.
    private static func escaped(_ text: some StringProtocol) -> String {
        var result = ""
        for character in text {
            if "\\^$.|?*+()[]{}".contains(character) { result += "\\" }
            result.append(character)
        }
        return result
    }
}
