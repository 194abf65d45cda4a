/// What a report tells of a test besides how it ended.
package struct TestDetail: Sendable, Hashable {
    /// One set of arguments of a parameterized test.
    package struct Case: Sendable, Hashable {
        /// As the tool prints them: `n → 2`.
        package var arguments: String
        package var isFailed: Bool

        package init(arguments: String, isFailed: Bool) {
            self.arguments = arguments
            self.isFailed = isFailed
        }
    }

    /// Suite and name, as in the test's result.
    package var test: String
    /// Without the dot before them.
    package var tags: [String]
    package var cases: [Case]
    /// Names of values that the test attached, and the files that they were written to, where the tool says it.
    package var attachments: [String]

    package init(test: String, tags: [String] = [], cases: [Case] = [], attachments: [String] = []) {
        self.test = test
        self.tags = tags
        self.cases = cases
        self.attachments = attachments
    }

    var isEmpty: Bool { tags.isEmpty && cases.isEmpty && attachments.isEmpty }
}
