/// The targets of a Makefile, as far as its own text says them. Included files and computed names are not read.
package struct MakefileText: Sendable {
    /// A rule with explicit targets.
    struct Rule: Sendable {
        var targets: [String]
        var prerequisites: [String]
    }

    let rules: [Rule]
    /// What `.DEFAULT_GOAL` says.
    private let statedGoal: String?

    package init(_ text: String) {
        var rules: [Rule] = []
        var goal: String?
        let joined = text.replacing("\\\r\n", with: " ").replacing("\\\n", with: " ")
        for line in joined.split(whereSeparator: \.isNewline) {
            if line.hasPrefix(".DEFAULT_GOAL"), let equals = line.firstIndex(of: "=") {
                goal = line[line.index(after: equals)...].split(separator: " ").first.map(String.init)
                continue
            }
            guard !line.hasPrefix("\t"), !line.hasPrefix("#"), let colon = line.firstIndex(of: ":"),
                line[colon...].hasPrefix("::") || !line[colon...].hasPrefix(":=")
            else { continue }
            // `check ?= http://…` and `$(info check: …)` are no rules.
            let names = line[..<colon]
            guard !names.contains(where: { $0 == "=" || $0 == "$" }) else { continue }
            let targets = names.split(whereSeparator: \.isWhitespace).map(String.init)
            let rest = line[colon...].drop { $0 == ":" }
            // A variable of one target (`check: CFLAGS = -g`) is no rule; after `;` and `#` come no prerequisites.
            guard !targets.isEmpty, !rest.prefix(while: { $0 != ";" && $0 != "#" }).contains("=") else { continue }
            let prerequisites = rest.prefix { $0 != ";" && $0 != "#" && $0 != "|" }.split(
                whereSeparator: \.isWhitespace)
            rules.append(Rule(targets: targets, prerequisites: prerequisites.map(String.init)))
        }
        self.rules = rules
        statedGoal = goal
    }

    /// The target that tests: `check` by the GNU coding standards ("Standard Targets for Users"), else the widespread `test`, and its
    /// relatives.
    package var testTarget: String? { first(of: ["check", "test", "tests", "unittest", "unittests", "unit-tests"]) }

    /// What `make` builds.
    package enum Build: Equatable, Sendable {
        /// What `make` without a target does.
        case usual
        case targets([String])
        /// The first target installs, deletes, publishes, tests or explains, and no target builds.
        case none
    }

    /// The target that `make` without a target makes; `nil` if the text has none.
    package var goal: String? { statedGoal ?? firstTarget }

    /// `make` without a target makes the first one. Where that does something else than build, a target that builds is taken in its place;
    /// where it builds and then installs, all that it needs but the installation.
    package var build: Build {
        guard let goal else { return .usual }
        let needed = rules.filter { $0.targets.contains(goal) }.flatMap(\.prerequisites)
        let installs = needed.contains { Self.has($0, Self.installing) }
        guard Self.has(goal, Self.installing.union(Self.other)) || installs else { return .usual }
        let other = first(of: ["all", "build", "compile"].filter { $0 != goal }) { rule in
            !rule.prerequisites.contains { Self.has($0, Self.installing) }
        }
        if let other { return .targets([other]) }
        let rest = needed.filter { !Self.has($0, Self.installing.union(Self.other)) && !$0.contains("$") }
        return rest.isEmpty ? .none : .targets(rest)
    }

    /// GNU make's default goal: the first target that does not begin with a dot, unless it has a slash, and is no pattern.
    private var firstTarget: String? {
        rules.flatMap(\.targets).first { ($0.first != "." || $0.contains("/")) && !$0.contains("%") }
    }

    private static let installing: Set<String> = [
        "install", "uninstall", "deploy", "publish", "upload", "push",
    ]
    private static let other: Set<String> = [
        "clean", "distclean", "help", "usage", "check", "test", "tests", "docker", "run", "serve",
    ]

    private static func has(_ target: String, _ words: Set<String>) -> Bool {
        target.lowercased().split { !$0.isLetter }.contains { words.contains(String($0)) }
    }

    private func first(of names: [String], where isFitting: (Rule) -> Bool = { _ in true }) -> String? {
        names.first { name in rules.contains { $0.targets.contains(name) && isFitting($0) } }
    }
}
