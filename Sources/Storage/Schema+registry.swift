extension Schema {
    /// What a version is called in the package registry. Upper and lower case are the same there.
    static let registry = """
        ALTER TABLE versions ADD COLUMN registry TEXT COLLATE NOCASE;
        CREATE INDEX versions_by_registry ON versions (registry) WHERE registry IS NOT NULL;
        """
}
