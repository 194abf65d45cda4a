import Model

/// Tells the same case run again from different cases of one name.
enum JUnitRetries {
    /// Joins a case that failed and was run again until it passed into one flaky test; other cases of one name (tests in a
    /// loop) stay apart, numbered from the second on, so that no test is lost.
    ///
    /// Where two different tests of one name are a failed and a passed one, this would hide the failure; the command's exit
    /// status, which a retried test leaves at 0, then still tells.
    static func joined(_ tests: [TestResult]) -> [TestResult] {
        var groups: [String: [Int]] = [:]
        for (index, test) in tests.enumerated() { groups[key(test), default: []].append(index) }
        guard groups.count < tests.count else { return tests }
        var tests = tests
        var gone: Set<Int> = []
        for group in groups.values where group.count > 1 {
            if let last = group.last, tests[last].outcome == .passed,
                group.dropLast().allSatisfy({ tests[$0].outcome.isFailure })
            {
                let first = group[0]
                tests[first].outcome = .flaky
                tests[first].duration = tests[last].duration
                gone.formUnion(group.dropFirst())
            } else {
                for (number, index) in group.enumerated() where number > 0 { tests[index].name += " (\(number + 1))" }
            }
        }
        return tests.indices.filter { !gone.contains($0) }.map { tests[$0] }
    }

    /// Numbers tests of one name from the second on; for formats that run no test again, where they are different ones.
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
