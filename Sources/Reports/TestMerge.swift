package import Model

/// Joins what several reports say of one test run, so that no test is there twice.
package enum TestMerge {
    /// One list of what the report files and consoles of one step say.
    ///
    /// Files of one format tell of different tests: of two modules, or of one suite under two versions of Python. Where they have one name, it
    /// is numbered from the second on. A file all of whose results are, with their durations, in a larger one was gathered into
    /// it (Ant's `TESTS-TestSuites.xml`). Files of different formats, and consoles, tell of the same tests.
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

    /// The tests of files that tell of different ones.
    private static func together(_ files: [[TestResult]]) -> [TestResult] {
        let largest = files.indices.max { files[$0].count < files[$1].count } ?? 0
        let gathered = Set(files[largest])
        let kept = files.indices.filter { index in
            let tests = files[index]
            let isTimed = tests.contains { $0.duration.map { $0 > .zero } ?? false }
            return tests.count == files[largest].count || !isTimed || !tests.allSatisfy(gathered.contains)
        }
        var used: Set<String> = []
        // By suite and name: the last number.
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

    /// One list, in the order in which the tests first appear.
    ///
    /// Two results are one test when suite and name are equal, or when one source knows only the class (`ParserTests`, as
    /// XCTest prints on Linux) and exactly one other result has that class in a module (`KitTests.ParserTests`). The worst
    /// outcome wins, and the first text, place and duration that go with it: no source can make a failure green.
    /// - Parameters:
    ///   - sources: Best first: event stream, XCTest's console, xUnit files.
    ///   - end: How the command ended; a crashed test whose text names no signal gets its.
    package static func merge(_ sources: [[TestResult]], end: CommandEnd = CommandEnd()) -> [TestResult] {
        var merged: [TestResult] = []
        var places: [String: Int] = [:]
        // By class and name: the full suites that the sources before had.
        var suites: [String: Set<String>] = [:]
        // Of overloads any: the names, without numbers, of tests that failed.
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
                // Of overloads, a source without lines cannot say which it means: the better one has said it.
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
        // Tests run in parallel in one process: which of them ended it, nobody can tell.
        let untold = merged.count { $0.outcome == .crashed && !tellsSignal($0.message) }
        for index in merged.indices where merged[index].outcome == .crashed && !tellsSignal(merged[index].message) {
            merged[index].message = crashText(merged[index].message, end: end, among: untold)
        }
        return merged
    }

    /// Whether an earlier source has several tests of that name.
    private static func hasOverloads(_ base: TestResult, _ places: [String: Int], since first: Int) -> Bool {
        var second = base
        second.name += " (2)"
        guard let place = places[key(second)] else { return false }
        return place < first
    }

    /// The test by its name without the number that tells overloads apart.
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

    /// xUnit files of Swift Testing have dots between nested suites where everything else has slashes.
    private static func key(_ result: TestResult) -> String {
        String(result.suite.map { $0 == "/" ? "." : $0 }) + "\u{0}" + result.name
    }

    /// Joins results with a bare class into the one with its module that a later source brought.
    private static func joinBareClasses(_ results: [TestResult]) -> [TestResult] {
        var full: [String: [Int]] = [:]
        for (index, result) in results.enumerated() {
            if let bare = bareClass(result.suite) { full[bare + "\u{0}" + result.name, default: []].append(index) }
        }
        var results = results
        var gone: Set<Int> = []
        for index in results.indices where !results[index].suite.contains(".") {
            guard let places = full[key(results[index])], places.count == 1, let place = places.first else { continue }
            // The earlier source is the better one: its place in the list and its text are kept.
            var kept = joined(results[index], results[place])
            kept.suite = results[place].suite
            results[min(index, place)] = kept
            gone.insert(max(index, place))
        }
        return results.indices.filter { !gone.contains($0) }.map { results[$0] }
    }

    /// `ParserTests` of `KitTests.ParserTests`; `nil` for names of any other form.
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

    /// SwiftPM's parallel xUnit file says `failure` of every failure, which is no text.
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
