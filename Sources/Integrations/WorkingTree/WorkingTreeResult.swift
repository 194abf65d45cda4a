import Glibc
package import Model
package import SourceControl
package import Storage

/// What a run begins with.
package struct RunBeginning: Sendable {
    /// The run's name: the directory's, and a number that counts within it.
    package let id: IntegrationID
    package let root: String
    package let snapshot: WorkingTreeSnapshot
    /// What its jobs are kept from the machine by.
    package let isolation: Isolation
    /// What of the selection does not apply everywhere, in sentences.
    package let notes: [String]
    /// For following it.
    package let watch: RunWatch
}

/// What a run came to, as the interface has it of an integration.
package struct WorkingTreeResult: Sendable {
    package let integration: IntegrationRecord
    /// The last of each configuration, in the recipe's order.
    package let attempts: [AttemptRecord]
    package let issues: [Issue]
    /// Fingerprints of issues that this run did not come so far as to look for; they are taken to be still there.
    package let carried: Set<String>
    package let tests: [StoredTest]
    /// Where each configuration's log is; of one that was not begun there is none.
    package let logs: [Name: String]

    init(_ id: IntegrationID, store: Store, state: StateDirectory) async throws {
        guard let record = try await store.integration(id) else {
            throw RunError(.cache, "the row of \(id) is gone from \(state.database); was the cache removed?")
        }
        integration = record
        var last: [Name: AttemptRecord] = [:]
        for attempt in try await store.attempts(of: id) { last[attempt.id.job] = attempt }
        let order = record.recipe?.configurations.map(\.name) ?? []
        attempts = order.compactMap { last[$0] }
        issues = try await store.issues(of: id)
        var found: Set<String> = []
        for attempt in attempts { found.formUnion(try await store.findings(of: attempt.id).map(\.fingerprint)) }
        // A recipe with mistakes has no attempts; its issues are found before.
        carried =
            attempts.isEmpty
            ? [] : Set(issues.filter { $0.status == .unresolved }.map(\.fingerprint)).subtracting(found)
        tests = try await store.tests(of: id)
        logs = last.mapValues { state.attempt(id, job: $0.id.job, attempt: $0.id.attempt) + "/log" }
            .filter { access($0.value, F_OK) == 0 }
    }
}
