/// The output of `martlet doctor --json`.
package struct Diagnosis: Codable, Hashable, Sendable {
    /// The findings in the order of the examination.
    package var findings: [Finding]
    /// The number of findings that are problems.
    package var problems: Int

    /// A finding about the machine, the settings or the service.
    package struct Finding: Codable, Hashable, Sendable {
        /// What was examined, such as `daemon`, `repository` or `disk`.
        package var subject: String
        /// `ok`, `problem`, or `note` for a fact that is no problem.
        package var state: String
        /// What was found.
        package var text: String
        /// What to do; `nil` if there is no need to do anything.
        package var remedy: String?

        /// Creates a value from all its properties.
        package init(subject: String, state: String, text: String, remedy: String?) {
            self.subject = subject
            self.state = state
            self.text = text
            self.remedy = remedy
        }
    }

    /// Creates a value from all its properties.
    package init(findings: [Finding], problems: Int) {
        self.findings = findings
        self.problems = problems
    }
}
