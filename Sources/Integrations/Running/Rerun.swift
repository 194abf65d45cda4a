import Jobs
package import Model
package import Storage

/// A user's request to run parts of a completed integration again. By default, everything runs again.
package struct Rerun: Hashable, Sendable {
    /// Whether only the configurations run that failed, were canceled or never ran.
    package var isFailedOnly: Bool
    /// The filter for the tests to run, in the form of `swift test --filter`: 1 to `maximumFilterBytes` bytes without control characters. `nil` for
    /// all tests.
    package var testFilter: String?
    /// Whether only the triggers after the jobs run.
    package var isTriggersOnly: Bool

    /// The longest filter, in bytes. A filter names some tests, and is shown on one line.
    package static let maximumFilterBytes = 1000

    package init(isFailedOnly: Bool = false, testFilter: String? = nil, isTriggersOnly: Bool = false) {
        self.isFailedOnly = isFailedOnly
        self.testFilter = testFilter
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

    /// Checks the request.
    /// - Throws: `.invalid`.
    func validate() throws(OperationError) {
        if isTriggersOnly, isFailedOnly || testFilter != nil {
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
    var notes: [String] = []

    init() {}

    /// - Parameters:
    ///   - triggerFailed: Whether one of the integration's triggers failed.
    ///   - attempts: All attempts of the integration.
    ///   - crashed: The configurations with a test whose newest outcome is a crash.
    ///   - untold: The configurations whose tests were last red without a failing test.
    /// - Throws: `.conflict` if no configuration is left to run.
    init(
        _ rerun: Rerun, of id: IntegrationID, triggerFailed: Bool, recipe: Recipe, attempts: [AttemptRecord],
        crashed: Set<Name>, unreported: Set<Name>
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
            guard rerun.testFilter != nil else {
                jobs.append(name)
                continue
            }
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
            } else {
                jobs.append(name)
            }
        }
        if jobs.isEmpty {
            throw OperationError(
                .conflict, "no tests of \(id) can be chosen: \(notes.joined(separator: "; ")); rerun it without `tests`"
            )
        }
    }
}
