import Execution
import Glibc
package import Model
package import SourceControl
package import Storage

/// The facts about a run at its start.
package struct RunBeginning: Sendable {
    /// The id of the run: the name of the directory, and a number that counts within it.
    package let id: IntegrationID
    package let root: String
    package let snapshot: WorkingTreeSnapshot
    /// How its jobs are isolated from the machine.
    package let isolation: Isolation
    /// Sentences about parts of the selection that do not apply everywhere, and about the tree.
    package let notes: [String]
    /// Reports the progress of the run.
    package let watch: RunWatch
}

/// The results of a run, in the form of an integration.
package struct WorkingTreeResult: Sendable {
    package let integration: IntegrationRecord
    /// The last attempt of each configuration, in the recipe's order.
    package let attempts: [AttemptRecord]
    package let issues: [Issue]
    /// The fingerprints of issues that this run did not search. They are presumed to be still present.
    package let carried: Set<String>
    package let tests: [StoredTest]
    /// The path of each configuration's log. A configuration that was not started is missing.
    package let logs: [Name: String]

    init(_ id: IntegrationID, store: Store, state: StateDirectory) async throws {
        guard let record = try await store.integration(id) else {
            throw RunError(.cache, "the row of \(id) is missing from \(state.database); was the cache removed?")
        }
        integration = record
        var last: [Name: AttemptRecord] = [:]
        for attempt in try await store.attempts(of: id) { last[attempt.id.job] = attempt }
        let order = record.recipe?.configurations.map(\.name) ?? []
        attempts = order.compactMap { last[$0] }
        issues = try await store.issues(of: id)
        var found: Set<String> = []
        for attempt in attempts { found.formUnion(try await store.findings(of: attempt.id).map(\.fingerprint)) }
        // A recipe with errors has no attempts; its issues are found before.
        carried =
            attempts.isEmpty
            ? [] : Set(issues.filter { $0.status == .unresolved }.map(\.fingerprint)).subtracting(found)
        tests = try await store.tests(of: id)
        logs = last.mapValues { state.attempt(id, job: $0.id.job, attempt: $0.id.attempt) + "/log" }
            .filter { access($0.value, F_OK) == 0 }
    }
}
