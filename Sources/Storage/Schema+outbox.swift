extension Schema {
    /// What is to be told outside. A row is stored with the change that caused it, names its integration by words, so that nothing holds
    /// on to that, and has no secret in it.
    static let outbox = """
        ALTER TABLE bots ADD COLUMN destinations TEXT NOT NULL DEFAULT '[]'; -- JSON

        CREATE TABLE outbox (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL,
            destination TEXT NOT NULL,
            subject TEXT NOT NULL,                -- of one, each waits for those before it
            bot TEXT NOT NULL,
            number INTEGER,                       -- NULL: there is no integration
            job TEXT,
            content TEXT NOT NULL,                -- JSON
            state TEXT NOT NULL CHECK (state IN ('waiting', 'sending', 'sent', 'superseded', 'unneeded', 'given-up')),
            tries INTEGER NOT NULL DEFAULT 0,
            is_uncertain INTEGER NOT NULL DEFAULT 0, -- a try may have arrived without our knowing
            next_at INTEGER NOT NULL,
            note TEXT,                            -- what the last try came to
            created_at INTEGER NOT NULL,
            ended_at INTEGER
        ) STRICT;
        CREATE INDEX outbox_open ON outbox (kind, destination, subject, id) WHERE state IN ('waiting', 'sending');
        CREATE INDEX outbox_given_up ON outbox (id) WHERE state = 'given-up';
        """

    /// The one comment of a bot at a pull request.
    static let comments = """
        CREATE TABLE comments (
            bot TEXT NOT NULL,
            number INTEGER NOT NULL,              -- the pull request's
            destination TEXT NOT NULL,
            project TEXT NOT NULL,
            comment INTEGER NOT NULL,             -- as the forge counts
            PRIMARY KEY (bot, number, destination, project)
        ) STRICT, WITHOUT ROWID;
        """
}
