package import Model

/// A silence of a bot, with the issue that it is about where that is still shown.
package struct SilencedIssue: Hashable, Sendable {
    package var fingerprint: String
    package var silence: Silence
    /// Of the newest completed integration of a branch that tells of it; nothing when none of them does.
    package var issue: Shown?

    /// Where an issue is.
    package struct Shown: Hashable, Sendable {
        package var integration: IntegrationID
        package var ref: RefName
        package var finding: Finding
        package var isResolved: Bool
    }
}
