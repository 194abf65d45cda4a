/// The details of a test in a report besides its result.
package struct TestDetail: Sendable, Hashable {
    /// One set of arguments of a parameterized test.
    package struct Case: Sendable, Hashable {
        /// The arguments as the tool prints them: `n → 2`.
        package var arguments: String
        package var isFailed: Bool

        package init(arguments: String, isFailed: Bool) {
            self.arguments = arguments
            self.isFailed = isFailed
        }
    }

    /// The suite and name, as in the test's result.
    package var test: String
    /// The tags without the leading dot.
    package var tags: [String]
    package var cases: [Case]
    /// The names of values that the test attached, or the files to which they were written, if the tool states them.
    package var attachments: [String]

    package init(test: String, tags: [String] = [], cases: [Case] = [], attachments: [String] = []) {
        self.test = test
        self.tags = tags
        self.cases = cases
        self.attachments = attachments
    }

    var isEmpty: Bool { tags.isEmpty && cases.isEmpty && attachments.isEmpty }
}
