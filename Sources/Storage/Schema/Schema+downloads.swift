extension Schema {
    /// The number of downloads of each published file.
    static let downloads = """
        CREATE TABLE downloads (
            product TEXT NOT NULL,
            version TEXT NOT NULL,
            path TEXT NOT NULL,
            count INTEGER NOT NULL CHECK (count > 0),
            PRIMARY KEY (product, version, path)
        ) STRICT, WITHOUT ROWID;
        """
}
