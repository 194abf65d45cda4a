package import Model
package import Storage

/// A completed integration with all its stored records.
package struct Integrated: Sendable {
    package let record: IntegrationRecord
    /// Every attempt, by job and number.
    package let attempts: [AttemptRecord]
    package let issues: [Issue]
    package let tests: [StoredTest]
    package let triggers: [TriggerRecord]
    package let artifacts: [StoredArtifact]

    package init(_ record: IntegrationRecord, store: Store) async throws {
        self.record = record
        attempts = try await store.attempts(of: record.id)
        issues = try await store.issues(of: record.id)
        tests = try await store.tests(of: record.id)
        triggers = try await store.triggers(of: record.id)
        artifacts = try await store.artifacts(of: record.id)
    }

    package var id: IntegrationID { record.id }
    package var verdict: Verdict? { record.state.verdict }
    /// The result in the word that users see.
    package var result: String { record.state.result?.description ?? record.state.word }
    package var summary: Summary { record.summary ?? Summary() }

    /// Returns the last attempt of a configuration.
    package func attempt(_ configuration: String) -> AttemptRecord? {
        attempts.last { $0.id.job.description == configuration }
    }

    package func trigger(_ name: String) -> TriggerRecord? { triggers.last { $0.trigger.description == name } }
}
