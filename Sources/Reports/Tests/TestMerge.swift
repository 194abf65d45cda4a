package import Model

/// The merging of one test run's results from several reports, so that each test occurs once.
package enum TestMerge {
    /// Returns one list of the tests in one step's report files and consoles.
    ///
    /// Files of one format contain different tests, such as those of two modules, or of one suite under two versions of Python. Equal names are
    /// numbered from the second on. A file whose results are all in a larger one, with their durations, was collected into that one (Ant's
    /// `TESTS-TestSuites.xml`). Files of different formats, and consoles, contain the same tests.
    package static func merge(
        reports: [ReportContent], consoles: [[TestResult]], end: CommandEnd = CommandEnd()
    ) -> [TestResult] {
        var groups: [[ReportContent]] = []
        var places: [ReportFormat: Int] = [:]
        for report in reports {
            if let format = report.format, let place = places[format] {
                groups[place].append(report)
            } else {
                if let format = report.format { places[format] = groups.count }
                groups.append([report])
            }
        }
        return merge(groups.map { $0.count == 1 ? $0[0].tests : together($0.map(\.tests)) } + consoles, end: end)
    }

    /// Returns the tests of files that contain different ones.
    private static func together(_ files: [[TestResult]]) -> [TestResult] {
        let largest = files.indices.max { files[$0].count < files[$1].count } ?? 0
        let gathered = Set(files[largest])
        let kept = files.indices.filter { index in
            let tests = files[index]
            let isTimed = tests.contains { $0.duration.map { $0 > .zero } ?? false }
            return tests.count == files[largest].count || !isTimed || !tests.allSatisfy(gathered.contains)
        }
        var used: Set<String> = []
        // The last number, keyed by suite and name.
        var numbers: [String: Int] = [:]
        return kept.flatMap { files[$0] }.map { test in
            var test = test
            let (base, name) = (key(test), test.name)
            while !used.insert(key(test)).inserted {
                numbers[base, default: 1] += 1
                test.name = "\(name) (\(numbers[base, default: 1]))"
            }
            return test
        }
    }

    /// Returns one list, in the order in which the tests first appear.
    ///
    /// Two results are one test if suite and name are equal. They are also one test if one source has only the class (`ParserTests`, as XCTest prints
    /// it on Linux) and exactly one other result has that class in a module (`KitTests.ParserTests`). The worst outcome is used, with its first text,
    /// place and duration, so that no source can hide a failure.
    /// - Parameters:
    ///   - sources: The sources, best first: event stream, XCTest's console, xUnit files.
    ///   - end: The end of the command. A crashed test whose text names no signal gets the command's.
    package static func merge(_ sources: [[TestResult]], end: CommandEnd = CommandEnd()) -> [TestResult] {
        var merged: [TestResult] = []
        var places: [String: Int] = [:]
        // The full suites in the previous sources, keyed by class and name.
        var suites: [String: Set<String>] = [:]
        // The names, without numbers, of failed tests, including any overload.
        var failed: Set<String> = []
        for source in sources {
            let first = merged.count
            for result in source {
                var result = result
                if places[key(result)] == nil, !result.suite.contains("."), let found = suites[key(result)],
                    found.count == 1, let suite = found.first
                {
                    result.suite = suite
                }
                let base = withoutNumber(result)
                // A source without lines cannot identify an overload, and the better source already has all of them.
                if hasOverloads(base, places, since: first), !result.outcome.isFailure || failed.contains(key(base)) {
                    continue
                }
                if result.outcome.isFailure { failed.insert(key(base)) }
                if let place = places[key(result)] {
                    merged[place] = joined(merged[place], result)
                } else {
                    places[key(result)] = merged.count
                    merged.append(result)
                }
            }
            for result in merged[first...] {
                if let bare = bareClass(result.suite) {
                    suites[bare + "\u{0}" + result.name, default: []].insert(result.suite)
                }
            }
        }
        merged = joinBareClasses(merged)
        // Several tests run in parallel in one process, so it is unknown which one ended it.
        let unreported = merged.count { $0.outcome == .crashed && !tellsSignal($0.message) }
        for index in merged.indices where merged[index].outcome == .crashed && !tellsSignal(merged[index].message) {
            merged[index].message = crashText(merged[index].message, end: end, among: unreported)
        }
        return merged
    }

    /// Returns whether an earlier source has several tests of that name.
    private static func hasOverloads(_ base: TestResult, _ places: [String: Int], since first: Int) -> Bool {
        var second = base
        second.name += " (2)"
        guard let place = places[key(second)] else { return false }
        return place < first
    }

    /// Returns the test without the number that distinguishes overloads.
    private static func withoutNumber(_ result: TestResult) -> TestResult {
        var base = result
        if base.name.hasSuffix(")"), let range = base.name.range(ofLast: " ("),
            !base.name[range.upperBound...].dropLast().isEmpty,
            base.name[range.upperBound...].dropLast().allSatisfy({ $0.isASCII && $0.isNumber })
        {
            base.name = String(base.name[..<range.lowerBound])
        }
        return base
    }

    /// Returns a test's key. Swift Testing's xUnit files have dots between nested suites, where other sources have slashes.
    private static func key(_ result: TestResult) -> String {
        String(result.suite.map { $0 == "/" ? "." : $0 }) + "\u{0}" + result.name
    }

    /// Merges results that have only a class with the one that has its module, from a later source.
    private static func joinBareClasses(_ results: [TestResult]) -> [TestResult] {
        var full: [String: [Int]] = [:]
        for (index, result) in results.enumerated() {
            if let bare = bareClass(result.suite) { full[bare + "\u{0}" + result.name, default: []].append(index) }
        }
        var results = results
        var gone: Set<Int> = []
        for index in results.indices where !results[index].suite.contains(".") {
            guard let places = full[key(results[index])], places.count == 1, let place = places.first else { continue }
            // The earlier source is better, so its position in the list and its text are kept.
            var kept = joined(results[index], results[place])
            kept.suite = results[place].suite
            results[min(index, place)] = kept
            gone.insert(max(index, place))
        }
        return results.indices.filter { !gone.contains($0) }.map { results[$0] }
    }

    /// Returns `ParserTests` for `KitTests.ParserTests`; `nil` for names of any other form.
    private static func bareClass(_ suite: String) -> String? {
        let parts = suite.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 2 && !suite.contains("/") ? String(parts[1]) : nil
    }

    private static func joined(_ first: TestResult, _ second: TestResult) -> TestResult {
        let isSecondWorse = rank(second.outcome) > rank(first.outcome)
        var best = isSecondWorse ? second : first
        let other = isSecondWorse ? first : second
        if rank(best.outcome) == rank(other.outcome), isEmpty(best.message) { best.message = other.message }
        if best.path == nil || (rank(best.outcome) == rank(other.outcome) && best.line == nil && other.line != nil) {
            (best.path, best.line) = (other.path ?? best.path, other.line ?? best.line)
        }
        best.duration = first.duration ?? second.duration
        best.suite = first.suite
        return best
    }

    /// Returns whether a message has no information. SwiftPM's parallel xUnit file has the message `failure` for every failure.
    private static func isEmpty(_ message: String?) -> Bool { message == nil || message == "" || message == "failure" }

    private static func rank(_ outcome: TestResult.Outcome) -> Int {
        switch outcome {
        case .passed: 0
        case .skipped: 1
        case .knownIssue: 2
        case .flaky: 3
        case .failed: 4
        case .crashed: 5
        }
    }

    private static func tellsSignal(_ message: String?) -> Bool { message?.contains("ended by signal ") == true }

    private static func crashText(_ message: String?, end: CommandEnd, among count: Int) -> String {
        var how: String
        if let limit = end.limit {
            how = "still running at the limit: \(limit)"
        } else if let crash = end.crash {
            how = crash
        } else if let signal = end.anySignal {
            how = "ended by \(SignalName.text(signal))"
        } else {
            how = "started and never ended"
        }
        if count > 1 { how = "one of \(count) tests that were running: \(how)" }
        guard let message, !isEmpty(message) else { return how }
        return TextLimit.cut(how + "\n" + message, toBytes: Finding.maximumMessageBytes)
    }
}
