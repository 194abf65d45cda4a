package import Model

/// What a version has that the one before it had not, as it was when it was published.
package struct VersionChanges: Hashable, Sendable, Codable {
    /// The most commits that are listed.
    package static let maximumCommits = 100
    /// The longest subject and author's name, in Unicode scalars; the rest is cut off.
    package static let maximumText = 200

    /// One commit; subject and author are its own claims.
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

    /// The version before by precedence.
    package let since: SemanticVersion
    /// Newest first.
    package let commits: [Commit]
    /// Whether there were more.
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
