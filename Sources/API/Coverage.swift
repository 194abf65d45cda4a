/// A covered part of a total.
package struct CoverageShare: Codable, Hashable, Sendable {
    /// The number of covered lines, functions or branches.
    package var covered: Int
    /// The number of all of them.
    package var total: Int
    /// The percentage from 0 to 100; `nil` if `total` is 0.
    package var percent: Double?

    /// Creates a value from all its properties.
    package init(covered: Int, total: Int, percent: Double?) {
        self.covered = covered
        self.total = total
        self.percent = percent
    }
}

/// The coverage of an integration's tests in one configuration.
package struct Coverage: Codable, Hashable, Sendable {
    /// The configuration.
    package var configuration: String
    /// The attempt, counted from 1.
    package var attempt: Int
    /// The coverage of lines.
    package var lines: CoverageShare
    /// The coverage of functions; `nil` if the tool does not count them.
    package var functions: CoverageShare?
    /// The coverage of branches; `nil` if the tool does not count them.
    package var branches: CoverageShare?
    /// The number of files.
    package var files: Int
    /// The integration that it is compared with, such as `kit#40`; `nil` if there is none.
    package var before: String?
    /// The coverage of lines in that integration; `nil` if there is none.
    package var linesBefore: CoverageShare?
    /// The change of the coverage of lines, in percentage points; `nil` without an earlier coverage.
    package var change: Double?
    /// The number of files whose coverage of lines has changed; `nil` without an earlier coverage.
    package var changedFiles: Int?

    /// Creates a value from all its properties.
    package init(
        configuration: String, attempt: Int, lines: CoverageShare, functions: CoverageShare?, branches: CoverageShare?,
        files: Int, before: String?, linesBefore: CoverageShare?, change: Double?, changedFiles: Int?
    ) {
        self.configuration = configuration
        self.attempt = attempt
        self.lines = lines
        self.functions = functions
        self.branches = branches
        self.files = files
        self.before = before
        self.linesBefore = linesBefore
        self.change = change
        self.changedFiles = changedFiles
    }
}

/// The coverage of one file.
package struct FileCoverage: Codable, Hashable, Sendable {
    /// The path, relative to the repository's root.
    package var path: String
    /// The coverage of lines.
    package var lines: CoverageShare
    /// The coverage of functions; `nil` if the tool does not count them.
    package var functions: CoverageShare?
    /// The coverage of branches; `nil` if the tool does not count them.
    package var branches: CoverageShare?
    /// The coverage of lines in the integration that it is compared with; `nil` if that has no such file.
    package var linesBefore: CoverageShare?
    /// The change of the coverage of lines, in percentage points; `nil` without an earlier coverage.
    package var change: Double?

    /// Creates a value from all its properties.
    package init(
        path: String, lines: CoverageShare, functions: CoverageShare?, branches: CoverageShare?,
        linesBefore: CoverageShare?, change: Double?
    ) {
        self.path = path
        self.lines = lines
        self.functions = functions
        self.branches = branches
        self.linesBefore = linesBefore
        self.change = change
    }
}
