import Model
import Testing

/// The numbers of tests by outcome.
struct TestCounts: Equatable, CustomTestStringConvertible {
    var tests: Int
    var failed = 0
    var skipped = 0
    var flaky = 0
    var crashed = 0
    var known = 0

    init(_ tests: Int, failed: Int = 0, skipped: Int = 0, flaky: Int = 0, crashed: Int = 0, known: Int = 0) {
        self.tests = tests
        self.failed = failed
        self.skipped = skipped
        self.flaky = flaky
        self.crashed = crashed
        self.known = known
    }

    init(of results: [TestResult]) {
        func count(_ outcome: TestResult.Outcome) -> Int { results.count { $0.outcome == outcome } }
        self.init(
            results.count, failed: count(.failed), skipped: count(.skipped), flaky: count(.flaky),
            crashed: count(.crashed), known: count(.knownIssue))
    }

    var testDescription: String { "\(tests) tests, \(failed) failed, \(skipped) skipped, \(flaky) flaky" }
}

/// Returns the only test of a name.
func test(_ name: String, in results: [TestResult]) throws -> TestResult {
    let found = results.filter { $0.name == name }
    #expect(found.count == 1, "\(name) should be there once")
    return try #require(found.first)
}
