package import Model

/// What of a working tree's recipe is run.
package struct RunSelection: Hashable, Sendable, Codable {
    /// Nothing: all that the recipe has.
    package var configurations: [Name]
    /// As `swift test --filter` has it; nothing: every test.
    package var tests: String?

    package init(configurations: [Name] = [], tests: String? = nil) {
        self.configurations = configurations
        self.tests = tests
    }
}

/// Why a working tree cannot be run. What its code does wrong is never an error: it is a result.
package struct RunError: Error, CustomStringConvertible {
    /// What kind of fault, for the exit status.
    package enum Code: Sendable {
        /// There is no such directory, or no selection to repeat.
        case notFound
        /// The recipe does not have what was asked for.
        case unknownConfiguration
        /// Another run works on this directory.
        case busy
        /// The cache cannot be used.
        case cache
        /// It was canceled before there was anything of it.
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
