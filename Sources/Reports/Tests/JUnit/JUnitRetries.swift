import Model

/// Functions that distinguish repeated runs of one case from different cases of one name.
enum JUnitRetries {
    /// Merges a case that failed and was repeated until it passed into one flaky test. Other cases of one name stay separate and are numbered from
    /// the second on, so that no test is lost.
    ///
    /// Cases of one name may be rows of a parameterized test, tests of two binaries, or a loop. Only adjacent cases in one place can be runs of the
    /// same case.
    /// - Parameter places: The place of each test within which it may be merged, such as a suite's element or a package's run; `nil` if it may not.
    static func joined(_ tests: [TestResult], within places: [Int?]) -> [TestResult] {
        var tests = tests
        var gone: Set<Int> = []
        var start = 0
        while start < tests.count {
            var end = start + 1
            guard let place = places[start] else {
                start = end
                continue
            }
            while end < tests.count, places[end] == place, key(tests[end]) == key(tests[start]) { end += 1 }
            if end - start > 1, tests[end - 1].outcome == .passed,
                tests[start..<(end - 1)].allSatisfy(\.outcome.isFailure)
            {
                tests[start].outcome = .flaky
                tests[start].duration = tests[end - 1].duration
                gone.formUnion((start + 1)..<end)
            }
            start = end
        }
        return numbered(tests.indices.filter { !gone.contains($0) }.map { tests[$0] })
    }

    /// Returns the tests with different ones of one name numbered from the second on.
    static func numbered(_ tests: [TestResult]) -> [TestResult] {
        var counts: [String: Int] = [:]
        return tests.map { test in
            let count = counts[key(test), default: 0] + 1
            counts[key(test)] = count
            var test = test
            if count > 1 { test.name += " (\(count))" }
            return test
        }
    }

    private static func key(_ test: TestResult) -> String { test.suite + "\u{0}" + test.name }
}
