extension Schema {
    /// The coverage of attempts: its totals, and one compressed record of its files (`CoverageRecord`).
    static let coverage = """
        CREATE TABLE coverage (
            attempt INTEGER PRIMARY KEY REFERENCES attempts(id),
            files INTEGER NOT NULL,
            lines_covered INTEGER NOT NULL,
            lines_total INTEGER NOT NULL,
            functions_covered INTEGER,             -- NULL: the tool does not count them
            functions_total INTEGER,
            branches_covered INTEGER,
            branches_total INTEGER,
            record BLOB NOT NULL
        ) STRICT;
        """
}
