extension Schema {
    /// The removals by retention, which pages show; the disk use of each integration; and the time up to which age is counted.
    static let retention = """
        ALTER TABLE integrations ADD COLUMN removed_at INTEGER; -- since then it is shown nowhere, and its rows and files go
        ALTER TABLE integrations ADD COLUMN disk_run INTEGER;   -- the run after which its files were measured
        ALTER TABLE integrations ADD COLUMN disk_bytes INTEGER;
        ALTER TABLE integrations ADD COLUMN disk_files INTEGER;
        CREATE INDEX integrations_removed ON integrations (id) WHERE removed_at IS NOT NULL;
        -- Whoever deletes an integration asks for those that name it.
        CREATE INDEX integrations_by_newer ON integrations (superseded_by) WHERE superseded_by IS NOT NULL;
        CREATE INDEX versions_by_integration ON versions (integration);

        CREATE TABLE removals (
            bot INTEGER NOT NULL REFERENCES bots(id),
            number INTEGER NOT NULL,
            at INTEGER NOT NULL,
            reason TEXT NOT NULL,
            PRIMARY KEY (bot, number)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE retention_clock (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            at INTEGER NOT NULL
        ) STRICT;
        """
}
