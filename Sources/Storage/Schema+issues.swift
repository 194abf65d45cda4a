extension Schema {
    /// Silencing finds an issue by its name, the list of flaky tests what changed, without reading what else failed.
    static let found = """
        CREATE INDEX issues_by_fingerprint ON issues (fingerprint, integration);
        CREATE INDEX test_rows_changed ON test_rows (attempt) WHERE \(Store.hasChangedOrIsFlaky);
        """

    /// The kind of step that found it; NULL: an older version stored it, or no step did.
    static let finders = """
        ALTER TABLE findings ADD COLUMN step TEXT;
        ALTER TABLE issues ADD COLUMN step TEXT;
        """

    /// What issues are known by wherever they stand, since when they are there, who brought them, who silenced them.
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
