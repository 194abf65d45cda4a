extension Schema {
    /// A version's name in the package registry, where upper and lower case are the same.
    static let registry = """
        ALTER TABLE versions ADD COLUMN registry TEXT COLLATE NOCASE;
        CREATE INDEX versions_by_registry ON versions (registry) WHERE registry IS NOT NULL;
        """
}
