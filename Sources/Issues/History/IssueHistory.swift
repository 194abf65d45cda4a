package import Logging
package import Model
package import SourceControl

/// Finds the changes between an integration and the branch's previous one: which files were renamed, and who changed which lines.
///
/// It adds detail to known issues, so a failure of git does not fail the integration.
package struct IssueHistory: Sendable {
    let mirror: Mirror
    /// The commit of the previous integration; `nil` if there is none.
    let from: CommitID?
    let to: CommitID
    let logger: Logger

    package init(mirror: Mirror, from: CommitID?, to: CommitID, logger: Logger) {
        (self.mirror, self.from, self.to, self.logger) = (mirror, from, to, logger)
    }

    /// Returns the changes to the files with earlier or present findings. Empty if they are not needed or cannot be read.
    /// - Throws: `CancellationError`, only if the daemon stops.
    package func changes(current: [Baseline.Found], before: [Issue]) async throws -> SourceChanges {
        guard let from, from != to, !before.isEmpty, Baseline.needsChanges(current: current, before: before) else {
            return SourceChanges()
        }
        // Inserting the paths one by one avoids arrays of all findings.
        var paths = Set(before.lazy.compactMap(\.finding.path))
        paths.formUnion(current.lazy.compactMap(\.finding.path))
        return try await telling(SourceChanges()) { [paths] () throws(SourceControlError) in
            try await mirror.changes(from: from, to: to, paths: paths)
        }
    }

    /// Sets the commit that introduced each new issue, if it can be determined.
    /// - Parameter known: The earlier result for the same issues, by fingerprint; `nil` if it was not searched yet.
    /// - Throws: `CancellationError`, only if the daemon stops.
    package func introduce(_ issues: inout [Issue], known: [String: Introduction]?) async throws {
        var introductions = known ?? [:]
        let asked = Self.asked(issues, known: introductions)
        // If the commit is the same as before, no commit introduced the new issues.
        if known == nil, !asked.isEmpty, from != to {
            let search = SuspectSearch(mirror: mirror, from: from, to: to)
            introductions = try await telling([:]) { () throws(SourceControlError) in
                try await search.introductions(of: asked)
            }
        }
        for index in issues.indices where issues[index].status == .new {
            issues[index].introducedBy = introductions[issues[index].fingerprint]
        }
    }

    /// The most new issues of an integration for which a commit is searched.
    static let maximumAsked = 5000

    /// Returns the new issues for which a commit is searched, at most `maximumAsked`.
    /// - Parameter known: The commits that were already found, by fingerprint.
    static func asked(_ issues: [Issue], known: [String: Introduction]) -> [Issue] {
        Array(
            issues.lazy.filter {
                $0.status == .new && $0.finding.category != .triggerError && known[$0.fingerprint] == nil
            }.prefix(maximumAsked))
    }

    private func telling<Value>(
        _ otherwise: Value, _ body: () async throws(SourceControlError) -> Value
    ) async throws -> Value {
        do throws(SourceControlError) {
            return try await body()
        } catch {
            if error.code == .canceled || Task.isCancelled { throw CancellationError() }
            logger.warning(
                "how the code has changed since the previous integration is unknown",
                metadata: ["commit": "\(to.abbreviated)", "error": "\(error)"])
            return otherwise
        }
    }
}
