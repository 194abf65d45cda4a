/// The commit that probably introduced an issue, how it was found, and how certain that is.
package struct Introduction: Hashable, Sendable, Codable {
    /// How the commit was found. These are the seven strategies of Xcode Server, with its names.
    package enum Strategy: String, Sendable, Codable, CaseIterable {
        /// The line comes from this commit, which is one of the integration's.
        case blameLineAgainstCommits
        /// The line is older or unknown, but this commit of the integration changed the file.
        case fileHasBeenModifiedByCommits
        /// No commit of the integration changed the file; this older commit wrote the line.
        case blameLine
        /// No commit of the integration changed the file, and the line is unknown; this commit changed the file last.
        case lastCommitFromFile
        /// As above, but the last change is long ago; this is the newest commit of the most frequent author of the
        /// file.
        case mostCommitterInFile
        /// It is the only commit of the integration.
        case singleCommitInIntegration
        /// It is the newest of the integration's commits, which all have the same author.
        case multipleCommitsSingleUserInIntegration
    }

    /// How certain the result is.
    package enum Confidence: String, Sendable, Codable, CaseIterable { case high, low }

    package var commit: CommitID
    /// The author's name in the commit, at most `maximumAuthorBytes` long. It is not verified.
    package var author: String
    /// The author's address in the commit, at most `maximumAuthorBytes` long. It is not verified.
    package var email: String
    package var strategy: Strategy
    package var confidence: Confidence

    /// The size limit in bytes: the longest address of RFC 5321 (section 4.5.3.1.3, erratum 1690).
    package static let maximumAuthorBytes = 254

    package init(commit: CommitID, author: String, email: String, strategy: Strategy, confidence: Confidence) {
        self.commit = commit
        self.author = author
        self.email = email
        self.strategy = strategy
        self.confidence = confidence
    }
}
