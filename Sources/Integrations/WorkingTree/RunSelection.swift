package import Model

/// The parts of a working tree's recipe to run.
package struct RunSelection: Hashable, Sendable, Codable {
    /// The configurations to run; empty for all configurations of the recipe.
    package var configurations: [Name]
    /// The filter for the tests, in the form of `swift test --filter`; `nil` for all tests.
    package var tests: String?

    package init(configurations: [Name] = [], tests: String? = nil) {
        self.configurations = configurations
        self.tests = tests
    }
}

/// The reason why a working tree cannot be run. Failures of its code are results, never errors.
package struct RunError: Error, CustomStringConvertible {
    /// The kind of error, which determines the exit status.
    package enum Code: Sendable {
        /// There is no such directory, or no selection to repeat.
        case notFound
        /// The recipe does not have the requested configuration.
        case unknownConfiguration
        /// Another run works on this directory.
        case busy
        /// The cache cannot be used.
        case cache
        /// The run was canceled before any job started.
        case canceled
    }

    package let code: Code
    /// What was tried, on what, what happened, what to do.
    package let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
