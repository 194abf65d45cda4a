extension Schema {
    /// Two indexes: silencing finds an issue by its fingerprint, and the list of flaky tests finds changed tests without reading other failures.
    static let found = """
        CREATE INDEX issues_by_fingerprint ON issues (fingerprint, integration);
        CREATE INDEX test_rows_changed ON test_rows (attempt) WHERE \(Store.hasChangedOrIsFlaky);
        """

    /// The kind of step that found a finding or an issue; NULL if an older version stored it, or no step did.
    static let finders = """
        ALTER TABLE findings ADD COLUMN step TEXT;
        ALTER TABLE issues ADD COLUMN step TEXT;
        """

    /// The content key of findings and issues, which does not depend on their place, and for issues the first integration, the author and the
    /// silence.
    static let issues = """
        ALTER TABLE findings ADD COLUMN content TEXT NOT NULL DEFAULT '';
        ALTER TABLE issues ADD COLUMN content TEXT NOT NULL DEFAULT '';
        ALTER TABLE issues ADD COLUMN since INTEGER;      -- number of the integration
        ALTER TABLE issues ADD COLUMN introduced_by TEXT; -- JSON
        ALTER TABLE issues ADD COLUMN silence TEXT;       -- JSON; as it was when the issues were compared, or set since

        CREATE TABLE silences (
            bot INTEGER NOT NULL REFERENCES bots(id),
            fingerprint TEXT NOT NULL,
            reason TEXT NOT NULL,
            person TEXT NOT NULL,
            at INTEGER NOT NULL,
            expires INTEGER,
            PRIMARY KEY (bot, fingerprint)
        ) STRICT, WITHOUT ROWID;
        """
}
