package import Model
package import Storage

/// What a person wants to run again of a completed integration; nothing said: everything.
package struct Rerun: Hashable, Sendable {
    /// Only the configurations that failed, were canceled or never ran.
    package var isFailedOnly: Bool
    /// Only tests that match, as `swift test --filter` reads it; 1 to `maximumFilterBytes` without control characters.
    package var testFilter: String?
    /// Only the triggers after the jobs.
    package var isTriggersOnly: Bool

    /// In bytes: a filter names some tests, and is shown on a line.
    package static let maximumFilterBytes = 1000

    package init(isFailedOnly: Bool = false, testFilter: String? = nil, isTriggersOnly: Bool = false) {
        self.isFailedOnly = isFailedOnly
        self.testFilter = testFilter
        self.isTriggersOnly = isTriggersOnly
    }

    /// What is queued.
    package struct Acceptance: Sendable {
        package var integration: IntegrationRecord
        /// The configurations that run again, in the recipe's order; empty when the recipe is still to be read.
        package var jobs: [Name]
        /// Sentences about the configurations that do not, although they were asked for.
        package var notes: [String]
    }

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

/// Which configurations of an integration run again.
struct RerunSelection {
    var jobs: [Name] = []
    var notes: [String] = []

    init() {}

    /// - Parameters:
    ///   - triggerFailed: Whether one of its triggers did.
    ///   - attempts: All of the integration's.
    ///   - crashed: The configurations of which a test's newest outcome is a crash.
    ///   - untold: Those whose tests were last red without any failing test.
    /// - Throws: `.conflict` when nothing is left to run.
    init(
        _ rerun: Rerun, of id: IntegrationID, triggerFailed: Bool, recipe: Recipe, attempts: [AttemptRecord],
        crashed: Set<Name>, untold: Set<Name>
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
                    "\(name) is not run again: its tests never ran to their end, so that some would stay unknown")
            } else if untold.contains(name) {
                notes.append(
                    "\(name) is not run again: its test command failed without any failing test, and running some tells nothing of that"
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
