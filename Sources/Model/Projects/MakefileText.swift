/// The targets of a Makefile, as its own text states them. Included files and computed names are not read.
package struct MakefileText: Sendable {
    /// A rule with explicit targets.
    struct Rule: Sendable {
        var targets: [String]
        var prerequisites: [String]
    }

    let rules: [Rule]
    /// The value of `.DEFAULT_GOAL`.
    private let statedGoal: String?

    package init(_ text: String) {
        var rules: [Rule] = []
        var goal: String?
        let bytes = Array(text.utf8)
        var start = 0
        while start < bytes.count {
            let line = Self.line(of: bytes, from: &start)
            if line.starts(with: Self.defaultGoal), let equals = line.firstIndex(of: UInt8(ascii: "=")) {
                goal = Self.words(line[(equals + 1)...]).first
                continue
            }
            guard let first = line.first, first != UInt8(ascii: "\t"), first != UInt8(ascii: "#"),
                let colon = line.firstIndex(of: UInt8(ascii: ":")),
                !line[colon...].dropFirst().starts(with: [UInt8(ascii: "=")])
            else { continue }
            // `check ?= http://…` and `$(info check: …)` are not rules.
            let names = line[..<colon]
            guard !names.contains(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "$") }) else { continue }
            let targets = Self.words(names)
            let rest = line[colon...].drop { $0 == UInt8(ascii: ":") }
                .prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "#") }
            // A variable of one target (`check: CFLAGS = -g`) is not a rule. What follows `;` or `#` is not a prerequisite.
            guard !targets.isEmpty, !rest.contains(UInt8(ascii: "=")) else { continue }
            rules.append(
                Rule(targets: targets, prerequisites: Self.words(rest.prefix { $0 != UInt8(ascii: "|") })))
        }
        self.rules = rules
        statedGoal = goal
    }

    private static let defaultGoal = Array(".DEFAULT_GOAL".utf8)

    /// Returns the line at `start`, with each continuation replaced by a blank, and moves `start` past its end.
    private static func line(of bytes: [UInt8], from start: inout Int) -> [UInt8] {
        var line: [UInt8] = []
        while start < bytes.count {
            let end = bytes[start...].firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } ?? bytes.count
            line += bytes[start..<end]
            let isPair =
                end + 1 < bytes.count && bytes[end] == UInt8(ascii: "\r") && bytes[end + 1] == UInt8(ascii: "\n")
            start = min(bytes.count, end + (isPair ? 2 : 1))
            guard line.last == UInt8(ascii: "\\"), end < bytes.count, isPair || bytes[end] == UInt8(ascii: "\n") else {
                return line
            }
            line[line.count - 1] = UInt8(ascii: " ")
        }
        return line
    }

    private static func words(_ bytes: ArraySlice<UInt8>) -> [String] {
        bytes.split { $0 == UInt8(ascii: " ") || (9...13).contains($0) }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The target that tests: `check` by the GNU coding standards ("Standard Targets for Users"), otherwise `test` or a similar name. `nil` if there
    /// is none.
    package var testTarget: String? { first(of: ["check", "test", "tests", "unittest", "unittests", "unit-tests"]) }

    /// The targets that `make` is to build.
    package enum Build: Equatable, Sendable {
        /// `make` without a target.
        case usual
        case targets([String])
        /// No target builds: the first target installs, deletes, publishes, tests or explains.
        case none
    }

    /// The target that `make` without a target makes; `nil` if the text has none.
    package var goal: String? { statedGoal ?? firstTarget }

    /// What to build. `make` without a target makes the first target. If that does something other than building, a target that builds is used
    /// instead. If it builds and then installs, its prerequisites without the installation are used.
    package var build: Build {
        guard let goal else { return .usual }
        let needed = rules.filter { $0.targets.contains(goal) }.flatMap(\.prerequisites)
        let installs = needed.contains { Self.has($0, Self.installing) }
        guard Self.has(goal, Self.notBuilding) || installs else { return .usual }
        let other = first(of: ["all", "build", "compile"].filter { $0 != goal }) { rule in
            !rule.prerequisites.contains { Self.has($0, Self.installing) }
        }
        if let other { return .targets([other]) }
        let rest = needed.filter { !Self.has($0, Self.notBuilding) && !$0.contains("$") }
        return rest.isEmpty ? .none : .targets(rest)
    }

    /// The default goal of GNU make: the first target that is not a pattern, and does not begin with a dot unless it has a slash.
    private var firstTarget: String? {
        rules.flatMap(\.targets).first { ($0.first != "." || $0.contains("/")) && !$0.contains("%") }
    }

    private static let installing: Set<String> = [
        "install", "uninstall", "deploy", "publish", "upload", "push",
    ]
    private static let other: Set<String> = [
        "clean", "distclean", "help", "usage", "check", "test", "tests", "docker", "run", "serve",
    ]

    private static let notBuilding = installing.union(other)

    private static func has(_ target: String, _ words: Set<String>) -> Bool {
        target.utf8.split { !(UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) && $0 < 0x80 }
            .contains { words.contains(String(decoding: $0.map { $0 < 0x80 ? $0 | 0x20 : $0 }, as: UTF8.self)) }
    }

    private func first(of names: [String], where isFitting: (Rule) -> Bool = { _ in true }) -> String? {
        names.first { name in rules.contains { $0.targets.contains(name) && isFitting($0) } }
    }
}
