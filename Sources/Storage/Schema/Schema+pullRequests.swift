extension Schema {
    /// Pull requests that events announced, the approvals of their commits, and the columns that connect an integration to its pull request.
    static let pullRequests = """
        CREATE TABLE pull_requests (
            repository INTEGER NOT NULL REFERENCES repositories(id),
            number INTEGER NOT NULL CHECK (number > 0),
            ref TEXT NOT NULL,                    -- its name in the ledger
            place TEXT NOT NULL,                  -- the ref at which its head is looked for
            base TEXT NOT NULL,                   -- as the events say
            is_open INTEGER NOT NULL,             -- as the events say
            told_at INTEGER,                      -- the forge's time of the newest event
            has_changed INTEGER NOT NULL DEFAULT 0, -- opened again, or got another base, since the last look
            head TEXT,                            -- of the last look; NULL: none has found it
            source TEXT,                          -- the branch that had that head at its tip then; NULL: a fork's
            generation INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (repository, number)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX pull_requests_open ON pull_requests (repository) WHERE is_open = 1;

        CREATE TABLE pull_approvals (
            bot INTEGER NOT NULL REFERENCES bots(id),
            number INTEGER NOT NULL,
            base TEXT NOT NULL,
            head TEXT NOT NULL,
            person TEXT NOT NULL,
            at INTEGER NOT NULL,
            PRIMARY KEY (bot, number, base, head)
        ) STRICT, WITHOUT ROWID;

        ALTER TABLE deliveries ADD COLUMN pull_request INTEGER; -- its number

        ALTER TABLE integrations ADD COLUMN pull_request INTEGER; -- its number
        ALTER TABLE integrations ADD COLUMN pull_place TEXT;
        ALTER TABLE integrations ADD COLUMN base TEXT;
        ALTER TABLE integrations ADD COLUMN base_commit TEXT;
        ALTER TABLE integrations ADD COLUMN head TEXT;
        ALTER TABLE integrations ADD COLUMN source TEXT;          -- NULL: a fork's
        ALTER TABLE integrations ADD COLUMN approved_by TEXT;
        ALTER TABLE integrations ADD COLUMN unmerged TEXT;        -- why the head alone is integrated
        CREATE INDEX integrations_by_pull_request ON integrations (bot, pull_request) WHERE pull_request IS NOT NULL;
        """
}
