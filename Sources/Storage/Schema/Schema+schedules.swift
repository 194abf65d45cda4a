extension Schema {
    /// The time up to which each bot's schedule has been handled.
    static let schedules = """
        CREATE TABLE schedules (
            bot INTEGER NOT NULL PRIMARY KEY REFERENCES bots(id),
            schedule TEXT NOT NULL,               -- times and zone, so that another schedule begins anew
            taken_up INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
}
