import Synchronization
package import Testing

/// A row of the list of threats that is not of one job alone. Each of its tests prints the row's identifier, what was tried and `denied`,
/// `contained` or `skipped: reason`, in the format of the table of jobs' threats. A test that fails prints no row.
///
/// The trait precedes the conditions of its suite or test, because Swift Testing evaluates no condition after the first that does not hold.
package struct Threat: TestTrait, SuiteTrait, TestScoping {
    /// The outcome of the attempt.
    package enum Outcome: String, Sendable {
        /// The attempt cannot be made.
        case denied
        /// The attempt can be made, does no forbidden harm, and ends.
        case contained
    }

    /// The identifier in the list.
    package let id: String
    package let what: String
    package let outcome: Outcome

    package init(_ id: String, _ what: String, _ outcome: Outcome) {
        (self.id, self.what, self.outcome) = (id, what, outcome)
    }

    package var isRecursive: Bool { true }

    /// Prints why a test is skipped, if one of its conditions does so.
    package func prepare(for test: Test) async throws {
        for case let condition as ConditionTrait in test.traits where try await !condition.evaluate() {
            say(test, "skipped: \(condition.comments.first?.rawValue ?? "a condition does not hold")")
            return
        }
    }

    @concurrent package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let failures = Failures()
        let observer: IssueHandlingTrait = .compactMapIssues { issue in
            failures.add()
            return issue
        }
        try await observer.provideScope(for: test, testCase: testCase, performing: function)
        if failures.count == 0 { say(test, outcome.rawValue) }
    }

    private func say(_ test: Test, _ end: String) { print("\(id) \(what), \(test.displayName ?? test.name): \(end)") }

    private final class Failures: Sendable {
        private let number = Mutex(0)

        var count: Int { number.withLock { $0 } }
        func add() { number.withLock { $0 += 1 } }
    }
}

extension Trait where Self == Threat {
    /// - Parameter id: One of `Threat.all`.
    package static func threat(_ id: String) -> Self {
        Threat.all.first { $0.id == id } ?? Threat(id, "a row that the table does not have", .denied)
    }
}
