extension Schema {
    /// The messages to external services. A row is stored with the change that caused it. It names its integration by text, so that no foreign key
    /// keeps that from being deleted, and it contains no secret.
    static let outbox = """
        ALTER TABLE bots ADD COLUMN destinations TEXT NOT NULL DEFAULT '[]'; -- JSON

        CREATE TABLE outbox (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL,
            destination TEXT NOT NULL,
            account TEXT NOT NULL,                -- the name of the secret that lets us in there; empty: not told apart
            subject TEXT NOT NULL,                -- of one, each waits for those before it
            is_first INTEGER NOT NULL,            -- of its subject's open ones
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
            failed_at INTEGER,                    -- when the first try failed
            ended_at INTEGER
        ) STRICT;
        CREATE INDEX outbox_open ON outbox (kind, destination, subject, id) WHERE state IN ('waiting', 'sending');
        CREATE INDEX outbox_due ON outbox (kind, destination, account, next_at, id) WHERE state = 'waiting' AND is_first = 1;
        CREATE INDEX outbox_age ON outbox (kind, destination, account, created_at) WHERE state = 'waiting';
        CREATE INDEX outbox_sending ON outbox (id) WHERE state = 'sending';
        CREATE TRIGGER outbox_next AFTER UPDATE OF state ON outbox
        WHEN old.state IN ('waiting', 'sending') AND new.state NOT IN ('waiting', 'sending')
        BEGIN
            UPDATE outbox SET is_first = 1 WHERE id = (
                SELECT id FROM outbox WHERE kind = new.kind AND destination = new.destination AND subject = new.subject
                AND state IN ('waiting', 'sending') ORDER BY id LIMIT 1) AND is_first = 0;
        END;
        """

    /// The single comment of a bot on a pull request.
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
