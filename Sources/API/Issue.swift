/// An issue of an integration: a finding of a tool that is tracked through the integrations of a branch.
package struct Issue: Codable, Hashable, Sendable {
    /// The identifier, in hexadecimal digits. It is kept when the issue's line moves.
    package var fingerprint: String
    /// `error`, `warning`, `analyzer-warning`, `test-failure` or `trigger-error`.
    package var category: String
    /// The status relative to the branch's previous integration: `new`, `unresolved`, `resolved` or `silenced`.
    package var status: String
    /// The number of consecutive integrations of the branch with the issue, including this one; 0 if it is resolved.
    package var age: Int
    /// The number of the first of these integrations; `nil` if an older version stored the issue.
    package var since: Int?
    /// The tool's name of the rule; empty if there is none.
    package var rule: String
    /// The tool's message, of one or several lines.
    package var message: String
    /// The path relative to the repository's root, or as printed if the file is elsewhere; `nil` without a location.
    package var path: String?
    /// The line, counted from 1; `nil` if it is unknown.
    package var line: Int?
    /// The column, counted from 1 in the tool's units; `nil` if it is unknown.
    package var column: Int?
    /// The configurations in which it was found. It is empty for a finding about the recipe.
    package var configurations: [String]
    /// The commit that probably introduced it; `nil` if no commit can be named.
    package var introducedBy: Introduction?
    /// Its silence, also an expired one; `nil` if there is none.
    package var silence: Silence?

    /// Creates a value from all its properties.
    package init(
        fingerprint: String, category: String, status: String, age: Int, since: Int?, rule: String, message: String,
        path: String?, line: Int?, column: Int?, configurations: [String], introducedBy: Introduction?,
        silence: Silence?
    ) {
        self.fingerprint = fingerprint
        self.category = category
        self.status = status
        self.age = age
        self.since = since
        self.rule = rule
        self.message = message
        self.path = path
        self.line = line
        self.column = column
        self.configurations = configurations
        self.introducedBy = introducedBy
        self.silence = silence
    }
}

/// The commit that probably introduced an issue.
package struct Introduction: Codable, Hashable, Sendable {
    /// The commit.
    package var commit: String
    /// The author's name in the commit. It is not verified.
    package var author: String
    /// The author's address in the commit. It is not verified.
    package var email: String
    /// How the commit was found, such as `blameLine`.
    package var strategy: String
    /// `high` or `low`.
    package var confidence: String

    /// Creates a value from all its properties.
    package init(commit: String, author: String, email: String, strategy: String, confidence: String) {
        self.commit = commit
        self.author = author
        self.email = email
        self.strategy = strategy
        self.confidence = confidence
    }
}

/// A user's statement that an issue is known.
package struct Silence: Codable, Hashable, Sendable {
    /// The reason, for everybody to read.
    package var reason: String
    /// The user.
    package var person: String
    /// When the issue was muted.
    package var at: Time
    /// When the silence ends; `nil` if it lasts until it is removed.
    package var expires: Time?
    /// Whether it has ended.
    package var expired: Bool

    /// Creates a value from all its properties.
    package init(reason: String, person: String, at: Time, expires: Time?, expired: Bool) {
        self.reason = reason
        self.person = person
        self.at = at
        self.expires = expires
        self.expired = expired
    }
}

/// A silence of a bot. In JSON the members of `silence` are its own.
package struct SilencedIssue: Hashable, Sendable {
    /// The fingerprint of the issue.
    package var fingerprint: String
    /// The silence.
    package var silence: Silence
    /// The issue in the newest completed integration of a branch that reports it; `nil` if none does.
    package var issue: Shown?

    /// An issue with the integration that reports it.
    package struct Shown: Codable, Hashable, Sendable {
        /// The integration, such as `kit#40`.
        package var integration: String
        /// The full name of its ref.
        package var ref: String
        /// Whether the integration resolved it.
        package var resolved: Bool
        /// See `Issue.category`.
        package var category: String
        /// See `Issue.rule`.
        package var rule: String
        /// See `Issue.message`.
        package var message: String
        /// See `Issue.path`.
        package var path: String?
        /// See `Issue.line`.
        package var line: Int?

        /// Creates a value from all its properties.
        package init(
            integration: String, ref: String, resolved: Bool, category: String, rule: String, message: String,
            path: String?, line: Int?
        ) {
            self.integration = integration
            self.ref = ref
            self.resolved = resolved
            self.category = category
            self.rule = rule
            self.message = message
            self.path = path
            self.line = line
        }
    }

    /// Creates a value from all its properties.
    package init(fingerprint: String, silence: Silence, issue: Shown?) {
        self.fingerprint = fingerprint
        self.silence = silence
        self.issue = issue
    }
}

extension SilencedIssue: Codable {
    private enum CodingKeys: CodingKey { case fingerprint, issue }

    /// Reads the members of one JSON object.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        fingerprint = try container.decode(String.self, forKey: .fingerprint)
        silence = try Silence(from: decoder)
        issue = try container.decodeIfPresent(Shown.self, forKey: .issue)
    }

    /// Writes the members of one JSON object.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(fingerprint, forKey: .fingerprint)
        try silence.encode(to: encoder)
        try container.encodeIfPresent(issue, forKey: .issue)
    }
}

/// The body of a request to silence an issue.
package struct SilenceRequest: Codable, Hashable, Sendable {
    /// The reason, for everybody to read.
    package var reason: String
    /// When the silence ends, in RFC 3339. `nil` if `for` states it, or if it has no end.
    package var until: String?
    /// How long the silence lasts, in seconds. `nil` if `until` states it, or if it has no end.
    package var `for`: Double?
    /// The user, which only a client of the Unix socket may state; `nil` for the caller.
    package var person: String?

    /// Creates a value from all its properties.
    package init(reason: String, until: String?, `for`: Double?, person: String?) {
        self.reason = reason
        self.until = until
        self.`for` = `for`
        self.person = person
    }
}

/// The answer to taking a silence back.
package struct Unsilenced: Codable, Hashable, Sendable {
    /// The whole fingerprint of the issue.
    package var fingerprint: String

    /// Creates a value from all its properties.
    package init(fingerprint: String) {
        self.fingerprint = fingerprint
    }
}
