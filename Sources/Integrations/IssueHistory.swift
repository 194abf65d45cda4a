import Logging
import Model
import Reports
import SourceControl

/// The changes between an integration and the branch's previous one: which files became which, and who changed what.
///
/// It adds detail to known issues, so a failure of git does not fail the integration.
struct IssueHistory: Sendable {
    let mirror: Mirror
    /// `nil` if there is no previous integration.
    let from: CommitID?
    let to: CommitID
    let logger: Logger

    /// What became of the files in which something was or is found; empty where that is not needed.
    /// - Throws: Only when the daemon stops.
    func changes(current: [Baseline.Found], before: [Issue]) async throws -> SourceChanges {
        guard let from, from != to, !before.isEmpty, Baseline.needsChanges(current: current, before: before) else {
            return SourceChanges()
        }
        // Without lists of all findings between.
        var paths = Set(before.lazy.compactMap(\.finding.path))
        paths.formUnion(current.lazy.compactMap(\.finding.path))
        return try await telling(SourceChanges()) { [paths] () throws(SourceControlError) in
            try await mirror.changes(from: from, to: to, paths: paths)
        }
    }

    /// Names the commits that brought the new issues, where one can be named.
    /// - Parameter known: What was found out about the same issues already, by fingerprint; `nil` if nobody has searched yet.
    /// - Throws: Only when the daemon stops.
    func introduce(_ issues: inout [Issue], known: [String: Introduction]?) async throws {
        var introductions = known ?? [:]
        let asked = Self.asked(issues, known: introductions)
        // The same commit again: whatever is new, no commit brought it.
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

    /// The new issues for which a commit is searched: the first ones.
    /// - Parameter known: Commits that were already found, by fingerprint.
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
                "what became of the code since the integration before is not known",
                metadata: ["commit": "\(to.abbreviated)", "error": "\(error)"])
            return otherwise
        }
    }
}
