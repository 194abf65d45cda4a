extension Schema {
    /// The facts about a pull request that a scan finds without an event, the order of events of the same time, and the integrations to end.
    static let pullCare = """
        ALTER TABLE pull_requests ADD COLUMN told_rank INTEGER NOT NULL DEFAULT 0; -- orders events of one time, see PullRequestStand
        ALTER TABLE pull_requests ADD COLUMN base_before TEXT;  -- the base that an event of told_at took away
        ALTER TABLE pull_requests ADD COLUMN base_tip TEXT;     -- its base's tip in the look that first saw this head for this base
        ALTER TABLE pull_requests ADD COLUMN judged_tip TEXT;   -- the tip in which the head was last looked for
        ALTER TABLE pull_requests ADD COLUMN missing_since INTEGER; -- the first look in a row that did not list the head
        ALTER TABLE pull_requests ADD COLUMN moved_at INTEGER NOT NULL DEFAULT 0; -- the last event, or another head
        ALTER TABLE pull_requests ADD COLUMN closed_at INTEGER;
        ALTER TABLE pull_requests ADD COLUMN closed_reason TEXT; -- NULL: by an event
        UPDATE pull_requests SET moved_at = CAST(strftime('%s', 'now') AS INTEGER) * 1000;
        UPDATE pull_requests SET closed_at = moved_at WHERE is_open = 0;
        CREATE INDEX pull_requests_moved ON pull_requests (repository, moved_at) WHERE is_open = 1;
        CREATE INDEX pull_requests_closed ON pull_requests (repository, closed_at) WHERE is_open = 0;

        ALTER TABLE integrations ADD COLUMN ending_run INTEGER; -- the run that is to end and may still go on

        ALTER TABLE deliveries ADD COLUMN tries INTEGER NOT NULL DEFAULT 0; -- looks that did not find what it tells of
        ALTER TABLE deliveries ADD COLUMN awaited TEXT;         -- what it waits for meanwhile

        DELETE FROM standings WHERE ref GLOB 'refs/pull/*/merge'; -- nobody is told of them

        CREATE TABLE pull_silences (
            bot INTEGER NOT NULL REFERENCES bots(id),
            number INTEGER NOT NULL,              -- the pull request's
            fingerprint TEXT NOT NULL,
            reason TEXT NOT NULL,
            person TEXT NOT NULL,
            at INTEGER NOT NULL,
            expires INTEGER,
            PRIMARY KEY (bot, number, fingerprint)
        ) STRICT, WITHOUT ROWID;
        """
}
