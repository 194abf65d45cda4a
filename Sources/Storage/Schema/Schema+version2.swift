extension Schema {
    /// Runs of an integration: a rerun adds one, with its own attempts and triggers beside the earlier ones. Also the newer integration that ended
    /// one, and the bot's specification when a run began.
    static let version2 = """
        ALTER TABLE integrations ADD COLUMN run INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE integrations ADD COLUMN superseded_by INTEGER REFERENCES integrations(id);
        ALTER TABLE integrations ADD COLUMN specification TEXT; -- JSON; the bot's, of the latest run
        ALTER TABLE attempts ADD COLUMN run INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE attempts ADD COLUMN test_filter TEXT;
        ALTER TABLE triggers ADD COLUMN run INTEGER NOT NULL DEFAULT 1;

        CREATE TABLE reruns (
            integration INTEGER NOT NULL REFERENCES integrations(id),
            run INTEGER NOT NULL CHECK (run > 1),
            requested_by TEXT NOT NULL,
            requested_at INTEGER NOT NULL,
            is_failed_only INTEGER NOT NULL,
            test_filter TEXT,
            is_triggers_only INTEGER NOT NULL,
            before TEXT NOT NULL,                 -- JSON: what the integration had come to
            PRIMARY KEY (integration, run)
        ) STRICT, WITHOUT ROWID;
        """
}
