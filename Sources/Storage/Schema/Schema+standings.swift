extension Schema {
    /// The health of each branch and tag of a bot, for bots that send notices (`Standing`).
    static let standings = """
        CREATE TABLE standings (
            bot INTEGER NOT NULL REFERENCES bots(id),
            ref TEXT NOT NULL,
            is_good INTEGER NOT NULL,
            number INTEGER NOT NULL,              -- the integration's that says so
            broken_number INTEGER,
            broken_run INTEGER,
            PRIMARY KEY (bot, ref)
        ) STRICT, WITHOUT ROWID;
        """
}
