extension Schema {
    /// What lists and pages are read from without reading all that there is.
    ///
    /// `newest_of_refs` has the newest integration of each branch and tag of a bot, without those of pull requests and those that retention removed.
    /// Triggers of the database keep it right, so that no statement that adds or removes an integration can forget it.
    static let lists = """
        CREATE TABLE newest_of_refs (
            bot INTEGER NOT NULL REFERENCES bots(id),
            ref TEXT NOT NULL,
            integration INTEGER NOT NULL,
            PRIMARY KEY (bot, ref)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX newest_of_refs_by_age ON newest_of_refs (bot, integration);
        INSERT INTO newest_of_refs SELECT bot, ref, max(id) FROM integrations
            WHERE pull_request IS NULL AND removed_at IS NULL GROUP BY bot, ref;

        CREATE TRIGGER integrations_are_newest AFTER INSERT ON integrations
        WHEN new.pull_request IS NULL AND new.removed_at IS NULL BEGIN
            INSERT INTO newest_of_refs (bot, ref, integration) VALUES (new.bot, new.ref, new.id)
            ON CONFLICT (bot, ref) DO UPDATE SET integration = max(integration, excluded.integration);
        END;
        CREATE TRIGGER integrations_are_hidden AFTER UPDATE OF pull_request, removed_at ON integrations BEGIN
            \(refill)
        END;
        CREATE TRIGGER integrations_are_deleted AFTER DELETE ON integrations
        WHEN EXISTS (SELECT 1 FROM newest_of_refs WHERE bot = old.bot AND ref = old.ref AND integration = old.id) BEGIN
            \(refill)
        END;

        -- The scheduler asks for the oldest of each ref at each of its choices.
        CREATE INDEX integrations_queued ON integrations (bot, ref, cause, is_release, run > 1, id) WHERE state = 'queued';
        -- A page of issues, in its order, whatever the number of others.
        CREATE INDEX issues_shown ON issues (integration, issue_set, status, category, path, line, place);
        """

    /// Looks for the newest integration of a ref, one of whose rows is gone, hidden or shown again.
    private static let refill = """
        DELETE FROM newest_of_refs WHERE bot = old.bot AND ref = old.ref;
            INSERT INTO newest_of_refs (bot, ref, integration) SELECT bot, ref, id FROM integrations
                WHERE bot = old.bot AND ref = old.ref AND pull_request IS NULL AND removed_at IS NULL
                ORDER BY number DESC LIMIT 1;
        """
}
