import Foundation
import Model
import TestSupport

/// A project's tests, which change from integration to integration. One in a thousand does not pass, some of these for a while and some by chance.
/// Some are always skipped. Names appear, disappear and are renamed. Durations are never equal.
struct SampleHistory {
    private struct Test {
        var suite: String
        var name: String
        /// The duration in microseconds.
        var duration: Double
        var isSkipped: Bool
        /// The last integration in which it fails, and the configurations.
        var fails = 0
        var failsIn: Int?
    }

    let configurations: Int
    private var tests: [Test] = []
    /// The sequence is the same in every run. Changes are separate from the tests' outcomes, so that a run can continue an earlier one.
    private var random = Mutator(state: 7)
    private var luck = Mutator(state: 11)
    private var made = 0
    private(set) var number = 0

    init(tests count: Int, configurations: Int) {
        self.configurations = configurations
        for _ in 0..<count { tests.append(makeTest()) }
    }

    private mutating func makeTest() -> Test {
        made += 1
        let suite = "AcmeKitTests.\(Self.words[made / 40 % 7])\(Self.words[made / 280 % 7])Tests\(made / 40)"
        // From 20 µs to 3 s, most of them short.
        let duration =
            20 * pow(150_000, Double.random(in: 0...1, using: &random) * Double.random(in: 0.3...1, using: &random))
        return Test(
            suite: suite, name: "testThat\(Self.words[made % 7])\(Self.words[made / 7 % 7])Number\(made)()",
            duration: duration,
            isSkipped: made % 200 == 0)
    }

    private static let words = ["Parser", "Writer", "Index", "Stream", "Ledger", "Cursor", "Window"]

    /// Makes the next commit's changes.
    mutating func advance() {
        number += 1
        let size = tests.count
        tests.remove(at: Int.random(in: tests.indices, using: &random))
        tests[Int.random(in: tests.indices, using: &random)].name += "Renamed"
        tests.append(makeTest())
        // About one in a thousand fails for some ten integrations, a third of them in one configuration only.
        for _ in 0..<max(1, size / 10_000) {
            let test = Int.random(in: tests.indices, using: &random)
            tests[test].fails = number + Int.random(in: 2...16, using: &random)
            tests[test].failsIn =
                Int.random(in: 0..<3, using: &random) == 0 ? Int.random(in: 0..<configurations, using: &random) : nil
        }
    }

    /// Returns the results of one configuration's attempt.
    mutating func results(in configuration: Int) -> [TestResult] {
        var results: [TestResult] = []
        results.reserveCapacity(tests.count)
        let machine = (1 + Double(configuration) / 2) * Double.random(in: 0.97...1.03, using: &luck)
        for index in tests.indices {
            let test = tests[index]
            // The noise is some hundredths, and rarely much more.
            let noise =
                Double.random(in: -0.05...0.05, using: &luck) + Double.random(in: -0.05...0.05, using: &luck)
            let stall = Int.random(in: 0..<100, using: &luck) == 0 ? Double.random(in: 1...3, using: &luck) : 1
            var result = TestResult(
                suite: test.suite, name: test.name, outcome: test.isSkipped ? .skipped : .passed,
                duration: .microseconds(Int64(test.duration * machine * (1 + noise) * stall)))
            if test.isSkipped {
                (result.message, result.duration) = ("needs a display, which this machine has not", nil)
            } else if test.fails > number, test.failsIn == nil || test.failsIn == configuration {
                result.outcome = .failed
            } else if Int.random(in: 0..<4000, using: &luck) == 0 {
                result.outcome = Bool.random(using: &luck) ? .flaky : .failed
            }
            if result.outcome.isFailure || result.outcome == .flaky {
                result.message =
                    "Expectation failed: (index.count → \(index)) == \(index + 1)\nthe cursor of \(test.name) was at \(number), which no window of the stream has; see the ledger of the parser for what it held before"
                (result.path, result.line) = ("Tests/AcmeKitTests/\(test.suite.dropFirst(13)).swift", index % 900 + 1)
            }
            results.append(result)
        }
        return results
    }

    /// The number of tests.
    var count: Int { tests.count }

    mutating func someName() -> String {
        let test = tests[Int.random(in: tests.indices, using: &random)]
        return test.suite + "/" + test.name
    }
}
