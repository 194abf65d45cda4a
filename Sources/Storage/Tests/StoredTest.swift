package import Model

/// A test's result with the configuration that ran it.
package struct StoredTest: Hashable, Sendable {
    package var configuration: Name
    package var result: TestResult

    package init(configuration: Name, result: TestResult) {
        self.configuration = configuration
        self.result = result
    }
}
