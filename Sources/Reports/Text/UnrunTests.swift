package import Model

/// Tests in the output of `swift test list` that have no result.
package struct UnrunTests: Sendable {
    /// A skipped result with a reason for each of these tests.
    package let results: [TestResult]
    /// Why these tests prevent a success; `nil` if the run's own failures already do, or if the list may contain tests that were not selected.
    package let problem: String?

    /// The most names that the problem has.
    private static let maximumNames = 5

    /// - Parameters:
    ///   - listed: The lines of `swift test list`.
    ///   - tests: All results of the run.
    ///   - isSuccess: Whether the command ended with 0.
    package init(listed: [String], tests: [TestResult], isSuccess: Bool) {
        let isCrashed = tests.contains { $0.outcome == .crashed }
        let found = Results(tests)
        // Without a crash, a whole suite may be missing for a reason: a base class that overrides `perform` runs its tests only in subclasses.
        let missing = Self.split(listed).filter { !found.has($0) && (isCrashed || isSuccess && found.hasSuite(of: $0)) }
        let message = isCrashed ? CrashedProcess.neverBegun : "did not run: it is listed, and has no result"
        results = missing.prefix(ReportContent.maximumItems).map {
            TestResult(suite: $0.suite, name: $0.name, outcome: .skipped, message: message)
        }
        let names = results.prefix(Self.maximumNames).map(\.fullName).joined(separator: ", ")
        let more = results.count > Self.maximumNames ? ", and \(results.count - Self.maximumNames) others" : ""
        problem =
            isCrashed || results.isEmpty ? nil : "\(results.count.counting("listed test")) did not run: \(names)\(more)"
    }

    private typealias Name = (suite: String, name: String)

    /// Returns whether a line is a test's. SwiftPM prints progress, warnings and errors among the list. Only raw names contain blanks.
    private static func isTest(_ line: String) -> Bool {
        var isRaw = false
        return line.contains(".")
            && line.unicodeScalars.allSatisfy { scalar in
                if scalar == "`" { isRaw.toggle() }
                return isRaw || !scalar.properties.isWhitespace
            }
    }

    /// Returns each listed test once, with names cut like those of results. Overloads have one name.
    private static func split(_ listed: [String]) -> [Name] {
        var seen: Set<String> = []
        return listed.filter(isTest).compactMap(ListedTests.split).map {
            (
                TextLimit.cut($0.suite, toBytes: TextLimit.nameBytes),
                TextLimit.cut($0.name, toBytes: TextLimit.nameBytes)
            )
        }.filter { (suite, name) in seen.insert(suite + "\u{0}" + name).inserted }
    }

    /// The suites and names of results.
    private struct Results {
        private var names: Set<String> = []
        private var suites: Set<String> = []

        init(_ tests: [TestResult]) {
            for test in tests {
                names.insert(Self.key(test.suite, test.name))
                suites.insert(Self.dotted(test.suite))
            }
        }

        /// Returns whether there is a result, possibly one with the class but without its module.
        func has(_ test: Name) -> Bool {
            names.contains(Self.key(test.suite, test.name))
                || names.contains(Self.key(Self.bare(test.suite), test.name))
        }

        func hasSuite(of test: Name) -> Bool { suites.contains(Self.dotted(test.suite)) }

        private static func bare(_ suite: String) -> String {
            suite.firstIndex(of: ".").map { String(suite[suite.index(after: $0)...]) } ?? suite
        }

        /// Returns a suite with dots between nested suites, as in xUnit files; other sources have slashes.
        private static func dotted(_ suite: String) -> String {
            suite.utf8.contains(0x2F) ? suite.replacing("/", with: ".") : suite
        }

        private static func key(_ suite: String, _ name: String) -> String { dotted(suite) + "\u{0}" + name }
    }
}
