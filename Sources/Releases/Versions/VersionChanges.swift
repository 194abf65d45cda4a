package import Model

/// The changes of a version since the previous one, as of its publication.
package struct VersionChanges: Hashable, Sendable, Codable {
    /// The largest number of commits that are listed.
    package static let maximumCommits = 100
    /// The largest length of subjects and author names in Unicode scalars; longer ones are truncated.
    package static let maximumText = 200

    /// A commit. The subject and the author are as the commit states them.
    package struct Commit: Hashable, Sendable, Codable {
        package let id: CommitID
        package let subject: String
        package let author: String

        package init(id: CommitID, subject: String, author: String) {
            self.id = id
            self.subject = Self.cut(subject)
            self.author = Self.cut(author)
        }

        private static func cut(_ text: String) -> String {
            let scalars = text.unicodeScalars
            guard scalars.count > VersionChanges.maximumText else { return text }
            return String(String.UnicodeScalarView(scalars.prefix(VersionChanges.maximumText - 1))) + "…"
        }
    }

    /// The previous version by precedence.
    package let since: SemanticVersion
    /// The commits, newest first.
    package let commits: [Commit]
    /// Whether there were more commits.
    package let isCut: Bool

    package init(since: SemanticVersion, commits: [Commit], isCut: Bool) {
        self.since = since
        self.commits = commits
        self.isCut = isCut
    }

    private enum CodingKeys: String, CodingKey {
        case since, commits
        case isCut = "more"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(since.description, forKey: .since)
        try container.encode(commits, forKey: .commits)
        try container.encode(isCut, forKey: .isCut)
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let text = try container.decode(String.self, forKey: .since)
        guard let since = SemanticVersion(text) else {
            throw DecodingError.dataCorruptedError(
                forKey: .since, in: container, debugDescription: "not a version: \(text.prefix(80))")
        }
        self.init(
            since: since, commits: try container.decode([Commit].self, forKey: .commits),
            isCut: try container.decode(Bool.self, forKey: .isCut))
    }
}
