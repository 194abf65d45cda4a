/// The line of a job's log that a finding or a failing test is about.
package struct LogPlace: Hashable, Sendable {
    /// The properties by which an issue or a test finds its line.
    package struct Key: Hashable, Sendable {
        /// The full name of a test, otherwise the beginning of a finding's message.
        package var subject: String
        package var path: String?
        package var line: Int?

        /// Creates the key of a finding. Findings about a test are identified by the test alone.
        package init(_ finding: Finding) {
            subject = Self.cut(finding.isOfTest ? finding.flakyTest ?? finding.rule : finding.message)
            if !finding.isOfTest { (path, line) = (finding.path, finding.line) }
        }

        /// Creates the key of a test.
        package init(test fullName: String) {
            subject = Self.cut(fullName)
            (path, line) = (nil, nil)
        }

        /// Creates a key from its stored properties.
        package init(subject: String, path: String?, line: Int?) {
            (self.subject, self.path, self.line) = (subject, path, line)
        }

        private static func cut(_ text: String) -> String {
            let line = text.prefix { !$0.isNewline }
            guard line.utf8.count > LogPlace.maximumSubjectBytes else { return String(line) }
            return String(decoding: line.utf8.prefix(LogPlace.maximumSubjectBytes), as: UTF8.self)
        }
    }

    package var key: Key
    /// The category of the finding; `.testFailure` for a failing test.
    package var category: Finding.Category
    /// The number of the line in the log, from 1 on.
    package var line: Int

    package init(key: Key, category: Finding.Category, line: Int) {
        (self.key, self.category, self.line) = (key, category, line)
    }

    /// Whether the line tells of a failure, not of a warning.
    package var isFailure: Bool { category != .warning && category != .analyzerWarning }

    /// The most bytes of `Key.subject`.
    package static let maximumSubjectBytes = 200
    /// The most places of an attempt. Failures come first.
    package static let maximumCount = 1000
}
