extension Schema {
    /// The version of the machine's toolchain for which each bot's branch tips were integrated last.
    static let toolchains = """
        CREATE TABLE toolchains (
            bot INTEGER NOT NULL PRIMARY KEY REFERENCES bots(id),
            version TEXT NOT NULL,
            next TEXT,                            -- the one for which they are being queued
            reached TEXT                          -- up to which ref, in order of name
        ) STRICT, WITHOUT ROWID;
        """
}
