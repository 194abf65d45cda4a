import Model
import SourceControl

/// Finds the commits that introduced new issues, by the seven strategies of `Introduction.Strategy`.
///
/// The integration's own commits are tried first: the commit of the line, that of the file, the only commit, the only author. If several authors
/// changed other files, or there are no commits, the history decides: the line's author, the file's last change, the most frequent author. These are
/// guesses, and are labeled so.
struct SuspectSearch: Sendable {
    let mirror: Mirror
    /// The commit of the branch's previous integration; `nil` if there is none. Then only the history is searched.
    let from: CommitID?
    let to: CommitID
    /// The time limit of each search of the whole history. Other operations wait for the mirror meanwhile.
    var guessing: Duration = .seconds(1)

    /// The most issues whose lines are blamed. For the others, only the file's commits are searched.
    static let maximumBlamed = 200
    /// The most commits of an integration that are searched; the newest ones are used.
    static let maximumCommits = 500
    /// The number of changes to a file that determine its most frequent author.
    static let maximumModifications = 20
    /// If a file has not changed for this long, its most frequent author knows it better than its last one.
    static let longAgo: Duration = .seconds(90 * 86_400)

    /// Returns the commits that introduced issues, by fingerprint. An issue without a suspected commit is missing.
    func introductions(of issues: [Issue]) async throws(SourceControlError) -> [String: Introduction] {
        let commits = try await interval()
        var found: [String: Introduction] = [:]
        if !commits.isEmpty {
            found = try await introductions(of: issues, by: commits)
        }
        let rest = issues.filter { found[$0.fingerprint] == nil && $0.finding.path != nil }
        guard !rest.isEmpty else { return found }
        for (fingerprint, guess) in try await guesses(rest) { found[fingerprint] = guess }
        return found
    }

    /// Returns the commits since the previous integration, or since the common ancestor if the branch was moved by a forced push.
    private func interval() async throws(SourceControlError) -> [CommitDetails] {
        guard let from, try await mirror.contains(from) else { return [] }
        return try await mirror.commits(from: from, to: to, limit: Self.maximumCommits)
    }

    // MARK: The integration's commits

    private func introductions(
        of issues: [Issue], by commits: [CommitDetails]
    ) async throws(SourceControlError) -> [String: Introduction] {
        let ids = commits.map(\.id)
        let details = Dictionary(commits.map { ($0.id, $0) }) { first, _ in first }
        let places = Self.places(issues)
        let origins = try await mirror.origins(
            of: places, at: to, among: Set(ids), limit: Mirror.HistoryLimit())
        let modifications = try await mirror.modifications(
            of: try await names(issues), among: ids, limit: Mirror.HistoryLimit())
        // A merge does not count as a change if the merged commits are in the list.
        let own = commits.filter { $0.parents.count < 2 }
        let authored = own.isEmpty ? commits : own
        let isOnePersons = Set(authored.map(\.person)).count == 1
        var found: [String: Introduction] = [:]
        for issue in issues {
            let finding = issue.finding
            let modified = finding.path.flatMap { modifications[$0] } ?? []
            let changed = modified.first { id in authored.contains { $0.id == id } } ?? modified.first
            if let place = Self.place(finding), let commit = origins[place].flatMap({ details[$0] }) {
                found[issue.fingerprint] = Introduction(commit, .blameLineAgainstCommits, .high)
            } else if let commit = changed.flatMap({ details[$0] }) {
                // The cause of a failing test is more likely outside of the test's file.
                let isSure = modified.count == 1 && (finding.category != .testFailure || authored.count == 1)
                found[issue.fingerprint] = Introduction(
                    commit, .fileHasBeenModifiedByCommits, isSure ? .high : .low)
            } else if authored.count == 1 {
                found[issue.fingerprint] = Introduction(authored[0], .singleCommitInIntegration, .high)
            } else if isOnePersons {
                found[issue.fingerprint] = Introduction(authored[0], .multipleCommitsSingleUserInIntegration, .low)
            }
        }
        return found
    }

    /// Returns all names that the issues' files have had since the previous integration.
    private func names(_ issues: [Issue]) async throws(SourceControlError) -> [String: Set<String>] {
        let paths = Set(issues.compactMap(\.finding.path))
        var names = Dictionary(paths.map { ($0, Set([$0])) }) { $1 }
        guard let from, !paths.isEmpty else { return names }
        for (old, file) in try await mirror.changes(from: from, to: to, paths: paths).files {
            if let path = file.path { names[path]?.insert(old) }
        }
        return names
    }

    // MARK: The history

    private func guesses(_ issues: [Issue]) async throws(SourceControlError) -> [String: Introduction] {
        let limit = Mirror.HistoryLimit(time: guessing)
        let origins = try await mirror.origins(of: Self.places(issues), at: to, among: nil, limit: limit)
        let lineless = issues.filter { Self.place($0.finding).flatMap { origins[$0] } == nil }
        let files = Set(lineless.compactMap(\.finding.path).sorted().prefix(Self.maximumBlamed))
        let modifications = try await mirror.lastModifications(
            of: files, at: to, each: Self.maximumModifications, limit: limit)
        var known: [CommitID: CommitDetails] = [:]
        for id in Set(origins.values).union(modifications.values.joined()) {
            known[id] = try await mirror.details(of: id)
        }
        let now = try await mirror.details(of: to).committedAt
        var found: [String: Introduction] = [:]
        for issue in issues {
            if let commit = Self.place(issue.finding).flatMap({ origins[$0] }).flatMap({ known[$0] }) {
                found[issue.fingerprint] = Introduction(commit, .blameLine, .low)
                continue
            }
            let commits = (issue.finding.path.flatMap { modifications[$0] } ?? []).compactMap { known[$0] }
            guard let last = commits.first else { continue }
            if now - last.committedAt < Self.longAgo {
                found[issue.fingerprint] = Introduction(last, .lastCommitFromFile, .low)
                continue
            }
            var counts: [String: Int] = [:]
            for commit in commits { counts[commit.person, default: 0] += 1 }
            let most = counts.values.max()
            guard let commit = commits.first(where: { counts[$0.person] == most }) else { continue }
            found[issue.fingerprint] = Introduction(commit, .mostCommitterInFile, .low)
        }
        return found
    }

    private static func place(_ finding: Finding) -> LinePlace? {
        guard let path = finding.path, let line = finding.line else { return nil }
        return LinePlace(path: path, line: line)
    }

    private static func places(_ issues: [Issue]) -> [LinePlace] {
        Array(issues.compactMap { place($0.finding) }.prefix(maximumBlamed))
    }
}

extension CommitDetails {
    /// The identity of the author: the email address, which stays the same if the name is spelled differently.
    fileprivate var person: String { authorEmail.isEmpty ? authorName : authorEmail.lowercased() }
}

extension Introduction {
    fileprivate init(_ commit: CommitDetails, _ strategy: Strategy, _ confidence: Confidence) {
        func kept(_ text: String) -> String {
            String(decoding: text.utf8.prefix(Self.maximumAuthorBytes), as: UTF8.self)
        }
        self.init(
            commit: commit.id, author: kept(commit.authorName), email: kept(commit.authorEmail), strategy: strategy,
            confidence: confidence)
    }
}
