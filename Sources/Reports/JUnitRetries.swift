import Model

/// Tells the same case run again from different cases of one name.
enum JUnitRetries {
    /// Joins cases that failed and were run again at once until they passed into one flaky test; other cases of one name stay
    /// apart, numbered from the second on, so that no test is lost.
    ///
    /// Cases of one name are many things: rows of a parameterized test, tests of two binaries, a loop. Only what stands next
    /// to each other in one place can be the same case again.
    /// - Parameter places: Of each test, the place within which it may be joined: a suite's element, a package's run; `nil`
    ///   where it never is.
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

    /// Numbers tests of one name from the second on, where they are different ones.
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
