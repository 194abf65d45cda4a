/// The commit that is taken to have brought an issue in, by what reasoning, and how sure that is.
package struct Introduction: Hashable, Sendable, Codable {
    /// How it was found: Xcode Server's seven ways, by its names.
    package enum Strategy: String, Sendable, Codable, CaseIterable {
        /// The line comes from this commit, which is one of the integration's.
        case blameLineAgainstCommits
        /// The line is older, or there is none; this commit of the integration changed the file.
        case fileHasBeenModifiedByCommits
        /// No commit of the integration touched the file; this one wrote the line.
        case blameLine
        /// … and where there is no line: this one changed the file last.
        case lastCommitFromFile
        /// … and where that is long ago: the newest of whoever changed the file most often.
        case mostCommitterInFile
        /// It is the only commit of the integration.
        case singleCommitInIntegration
        /// It is the newest of the integration's commits, all of which are of one person.
        case multipleCommitsSingleUserInIntegration
    }

    /// Whether it is more than a guess.
    package enum Confidence: String, Sendable, Codable, CaseIterable { case high, low }

    package var commit: CommitID
    /// As the commit says, at most `maximumAuthorBytes`: anybody can write anything there.
    package var author: String
    /// As the commit says, at most `maximumAuthorBytes`.
    package var email: String
    package var strategy: Strategy
    package var confidence: Confidence

    /// 254 is the longest address of RFC 5321 (section 4.5.3.1.3, erratum 1690).
    package static let maximumAuthorBytes = 254

    package init(commit: CommitID, author: String, email: String, strategy: Strategy, confidence: Confidence) {
        self.commit = commit
        self.author = author
        self.email = email
        self.strategy = strategy
        self.confidence = confidence
    }
}
