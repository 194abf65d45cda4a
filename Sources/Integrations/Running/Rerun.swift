import Jobs
package import Model
package import Storage

/// A user's request to run parts of a completed integration again. By default, everything runs again.
package struct Rerun: Hashable, Sendable {
    /// Whether only the configurations run that failed, were canceled or never ran.
    package var isFailedOnly: Bool
    /// The filter for the tests to run, in the syntax of the test tool (`TestFilter`): 1 to `maximumFilterBytes` bytes without control characters.
    /// `nil` for all tests.
    package var testFilter: String?
    /// The full names of the tests to run, instead of a filter: at most `maximumTests`. Empty for all tests.
    package var tests: [String]
    /// Whether only the triggers after the jobs run.
    package var isTriggersOnly: Bool

    /// The longest filter, in bytes. A filter names some tests, and is shown on one line.
    package static let maximumFilterBytes = 1000

    /// The most tests that are chosen by name, and the longest of all their names together, in bytes. A filter of them is an argument of a program.
    package static let maximumTests = 200
    package static let maximumTestBytes = 32 * 1024

    package init(
        isFailedOnly: Bool = false, testFilter: String? = nil, tests: [String] = [], isTriggersOnly: Bool = false
    ) {
        self.isFailedOnly = isFailedOnly
        self.testFilter = testFilter
        self.tests = tests
        self.isTriggersOnly = isTriggersOnly
    }

    /// The result of a queued rerun.
    package struct Acceptance: Sendable {
        package var integration: IntegrationRecord
        /// The configurations that run again, in the recipe's order. Empty if the recipe is not read yet.
        package var jobs: [Name]
        /// Sentences about the requested configurations that do not run again.
        package var notes: [String]
    }

    /// Whether only some tests run.
    package var choosesTests: Bool { testFilter != nil || !tests.isEmpty }

    /// The chosen tests in one line; `nil` for all tests.
    var choice: String? {
        if tests.isEmpty { return testFilter }
        let shown = tests.prefix(3).joined(separator: ", ")
        return (tests.count > 3 ? shown + " and \(tests.count - 3) more" : shown).inOneBlankedLine
    }

    /// Checks the request.
    /// - Throws: `.invalid`.
    func validate() throws(OperationError) {
        if !tests.isEmpty, testFilter != nil {
            throw OperationError(.invalid, "tests are chosen either by names or by a filter; leave out one of them")
        }
        guard tests.count <= Self.maximumTests,
            tests.reduce(0, { $0 + $1.utf8.count }) <= Self.maximumTestBytes
        else {
            throw OperationError(
                .invalid,
                "\(tests.count.grouped) tests were chosen; at most \(Self.maximumTests) whose names have \(Self.maximumTestBytes) "
                    + "bytes together can be. Choose fewer, or run all of them")
        }
        if isTriggersOnly, isFailedOnly || choosesTests {
            throw OperationError(
                .invalid, "triggers alone run no configuration and no test; leave out either them or the rest")
        }
        guard let testFilter else { return }
        guard (1...Self.maximumFilterBytes).contains(testFilter.utf8.count),
            testFilter.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f })
        else {
            throw OperationError(
                .invalid, "a filter of tests has 1 to \(Self.maximumFilterBytes) bytes and no control character")
        }
    }
}

/// The configurations of an integration that run again.
struct RerunSelection {
    var jobs: [Name] = []
    /// The filter of each job, if tests were chosen.
    var filters: [Name: String] = [:]
    var notes: [String] = []

    init() {}

    /// The chosen tests of an integration.
    struct Chosen {
        /// The tests that each configuration ran.
        var tests: [Name: [(suite: String, name: String)]] = [:]
        /// The names that no configuration ran.
        var unknown: [String] = []
    }

    /// - Parameters:
    ///   - triggerFailed: Whether one of the integration's triggers failed.
    ///   - attempts: All attempts of the integration.
    ///   - crashed: The configurations with a test whose newest outcome is a crash.
    ///   - unreported: The configurations whose tests were last red without a failing test.
    ///   - chosen: The tests that the rerun names; `nil` if it names none.
    /// - Throws: `.conflict` if no configuration is left to run.
    init(
        _ rerun: Rerun, of id: IntegrationID, triggerFailed: Bool, recipe: Recipe, attempts: [AttemptRecord],
        crashed: Set<Name>, unreported: Set<Name>, chosen: Chosen? = nil
    ) throws(OperationError) {
        var newest: [Name: AttemptRecord] = [:]
        for attempt in attempts where attempt.id.attempt > newest[attempt.id.job]?.id.attempt ?? 0 {
            newest[attempt.id.job] = attempt
        }
        var wanted = recipe.configurations
        if rerun.isFailedOnly {
            wanted = wanted.filter { !(newest[$0.name]?.state.verdict?.isPublishable ?? false) }
            if wanted.isEmpty, triggerFailed {
                throw OperationError(
                    .conflict, "no configuration of \(id) failed, only a trigger did; rerun it with `triggers`")
            }
            if wanted.isEmpty {
                throw OperationError(.conflict, "no configuration of \(id) failed; rerun it without `failed`")
            }
        }
        for configuration in wanted {
            let name = configuration.name
            guard rerun.choosesTests else {
                jobs.append(name)
                continue
            }
            // A configuration that ran none of the chosen tests keeps its results, and nobody expects it to run.
            if let chosen, chosen.tests[name] == nil { continue }
            if let reason = JobPlanner.whyNoFilter(configuration, recipe: recipe) {
                notes.append("\(name) is not run again: \(reason)")
            } else if crashed.contains(name) || !attempts.contains(where: { $0.id.job == name && $0.hasWholeTests }) {
                notes.append(
                    "\(name) is not run again: its tests never ran to their end, so the results of some tests would stay unknown"
                )
            } else if unreported.contains(name) {
                notes.append(
                    "\(name) is not run again: its test command failed without any failing test, and running only some tests would not show that"
                )
            } else if let filter = filter(for: configuration, rerun, recipe, chosen?.tests[name] ?? []) {
                jobs.append(name)
                filters[name] = filter
            }
        }
        for test in (chosen?.unknown ?? []).prefix(5) { notes.append("\(test) did not run in \(id)") }
        if jobs.isEmpty {
            throw OperationError(
                .conflict, "no tests of \(id) can be chosen: \(notes.joined(separator: "; ")); rerun it without `tests`"
            )
        }
    }

    /// Returns the filter of a configuration, and records which tests it cannot name; `nil` if it selects no test.
    private mutating func filter(
        for configuration: Recipe.Configuration, _ rerun: Rerun, _ recipe: Recipe,
        _ tests: [(suite: String, name: String)]
    ) -> String? {
        if let filter = rerun.testFilter { return filter }
        guard let kind = JobPlanner.filter(of: configuration, recipe: recipe) else { return nil }
        let (filter, unnamed) = kind.filter(for: tests)
        for test in unnamed.prefix(5) {
            notes.append(
                "\(test.suite)/\(test.name) is not run again in \(configuration.name): its test tool cannot name it")
        }
        return filter
    }
}
