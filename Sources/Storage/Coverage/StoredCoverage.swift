package import Model

/// The coverage of an attempt's tests, with the configuration's previous coverage.
package struct StoredCoverage: Hashable, Sendable {
    /// An earlier integration and its coverage, for comparison.
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
    /// The newest coverage of the configuration in the branch's last 20 comparable earlier integrations; `nil` if there is none.
    package var before: Before?

    package init(attempt: AttemptID, coverage: Coverage, before: Before? = nil) {
        self.attempt = attempt
        self.coverage = coverage
        self.before = before
    }

    package var delta: CoverageDelta? { before.map { CoverageDelta(from: $0.coverage, to: coverage) } }
}
