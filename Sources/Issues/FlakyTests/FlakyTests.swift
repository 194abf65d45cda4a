import Basics
package import Model
package import Storage

/// Tests that failed in an earlier attempt at the same job. The commit is the same, so a test that passes now is flaky. A pass on retry is never
/// silently green.
package struct FlakyTests: Sendable {
    /// The first failure of a test.
    package struct Failure: Hashable, Sendable {
        package var attempt: Int
        package var result: TestResult

        package init(attempt: Int, result: TestResult) {
            self.attempt = attempt
            self.result = result
        }
    }

    /// The first failures, by the test's full name.
    private var failures: [String: Failure] = [:]

    /// - Parameter earlier: The failed and flaky tests, with the attempts in order. Only the first one of each test counts.
    package init(_ earlier: [Failure]) {
        for failure in earlier where failures[failure.result.fullName] == nil {
            failures[failure.result.fullName] = failure
        }
    }

    /// Reads the failed and flaky tests of the earlier attempts at this job. Attempts that the service or a user ended are ignored, because their
    /// tests were ended with them.
    /// - Throws: `StoreError`.
    package init(before id: AttemptID, in store: Store) async throws {
        var earlier: [Failure] = []
        for attempt in try await store.attempts(of: id.integration)
        where attempt.id.job == id.job && attempt.id.attempt < id.attempt {
            guard let verdict = attempt.state.verdict, !verdict.isOurFault, verdict != .canceled else { continue }
            let tests = try await store.testPage(
                of: id.integration, attempt: attempt.id.attempt, configuration: id.job,
                outcomes: [.failed, .crashed, .flaky], limit: .max
            ).items
            earlier += tests.map { Failure(attempt: attempt.id.attempt, result: $0.result) }
        }
        self.init(earlier)
    }

    /// Returns the results with each passed test that failed before marked as flaky. Each gets a warning, and a verdict of success becomes one of
    /// warnings. The earlier failure's message and place are kept.
    /// - Parameter attempt: The number of the attempt with these results.
    package func marking(_ results: AttemptResults, attempt: Int) -> AttemptResults {
        guard !failures.isEmpty else { return results }
        var results = results
        var (marked, names): ([String], Set<String>) = ([], [])
        for index in results.tests.indices where results.tests[index].outcome == .passed {
            let name = results.tests[index].fullName
            guard let failure = failures[name] else { continue }
            let wasFlaky = failure.result.outcome == .flaky
            let said = failure.result.message.map { ": " + $0 } ?? ""
            results.tests[index].outcome = .flaky
            results.tests[index].path = failure.result.path ?? results.tests[index].path
            results.tests[index].line = failure.result.path == nil ? results.tests[index].line : failure.result.line
            results.tests[index].message =
                wasFlaky
                ? failure.result.message : "\(failure.result.outcome.rawValue) in attempt \(failure.attempt)\(said)"
            guard names.insert(name).inserted,
                let finding = Finding(
                    flaky: results.tests[index], how: "it passed in attempt \(attempt) of the same commit")
            else { continue }
            marked.append(name)
            results.findings.append(Self.stored(finding))
            results.counts.add(finding)
        }
        if !marked.isEmpty { results.becomeWarnings(Self.sentence(marked)) }
        return results
    }

    /// Returns the results with a warning if a test that failed before did not run this time. No commit turns green by leaving tests out.
    /// - Parameter results: The results including the tests that a filter left out.
    package func requiring(_ results: AttemptResults) -> AttemptResults {
        guard results.verdict.isPublishable, !failures.isEmpty else { return results }
        let ran = Set(results.tests.filter { $0.outcome != .skipped }.map(\.fullName))
        let missing = failures.keys.filter { !ran.contains($0) }.sorted()
        guard !missing.isEmpty else { return results }
        let sentence =
            "\(missing.count.counting("test")) of this commit failed in an earlier attempt and did not run in this one: "
            + Self.list(missing)
        var results = results
        let finding = Finding(category: .warning, message: sentence, rule: Finding.Rule.missingTests)
        results.findings.append(Self.stored(finding))
        results.counts.add(finding)
        results.becomeWarnings(sentence)
        return results
    }

    private static func stored(_ finding: Finding) -> StoredFinding {
        let keys = Fingerprinter.keys(of: finding, lineText: nil, occurrence: 0)
        return StoredFinding(
            fingerprint: Digest.sha256(of: Array(keys.place.utf8)),
            content: Digest.sha256(of: Array(keys.content.utf8)), finding: finding, step: .testing)
    }

    /// Returns a sentence such as `2 tests are flaky: Suite/a, Suite/b`.
    package static func sentence(_ names: [String]) -> String {
        "\(names.count.counting("test")) \(names.count == 1 ? "is" : "are") flaky: \(list(names))"
    }

    private static func list(_ names: [String]) -> String {
        names.prefix(3).joined(separator: ", ") + (names.count > 3 ? " and \(names.count - 3) more" : "")
    }
}

extension AttemptResults {
    /// Turns a verdict of success into one of warnings. Any other verdict stays.
    package mutating func becomeWarnings(_ why: String) {
        guard verdict == .succeeded else { return }
        (verdict, reason) = (.warnings, why)
    }

    /// Returns the results with the number of flaky tests added to the words about the tests.
    package func reportingFlakyTests() -> AttemptResults {
        let flaky = tests.count { $0.outcome == .flaky }
        guard flaky > 0 else { return self }
        var results = self
        results.tested += ", \(flaky) flaky"
        return results
    }
}
