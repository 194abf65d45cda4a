package import Model

/// What an attempt's tests executed of the source, beside what the configuration's did before.
package struct StoredCoverage: Hashable, Sendable {
    /// An integration with which it is compared.
    package struct Before: Hashable, Sendable {
        package var integration: IntegrationID
        package var coverage: Coverage

        package init(integration: IntegrationID, coverage: Coverage) {
            self.integration = integration
            self.coverage = coverage
        }
    }

    package var attempt: AttemptID
    package var coverage: Coverage
    /// The newest of the branch's last 20 comparable integrations before in which the configuration told of coverage.
    package var before: Before?

    package init(attempt: AttemptID, coverage: Coverage, before: Before? = nil) {
        self.attempt = attempt
        self.coverage = coverage
        self.before = before
    }

    package var delta: CoverageDelta? { before.map { CoverageDelta(from: $0.coverage, to: coverage) } }
}
