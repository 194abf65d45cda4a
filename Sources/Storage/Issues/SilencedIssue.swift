package import Model

/// A silence of a bot, with the issue that it silences if that is still shown.
package struct SilencedIssue: Hashable, Sendable {
    package var fingerprint: String
    package var silence: Silence
    /// The issue in the newest completed integration of a branch that reports it; `nil` if none does.
    package var issue: Shown?

    /// An issue with the integration that reports it.
    package struct Shown: Hashable, Sendable {
        package var integration: IntegrationID
        package var ref: RefName
        package var finding: Finding
        package var isResolved: Bool
    }
}
