extension Schema {
    /// The repository of each version's commit. A bot can get another repository, and its earlier versions still belong to the first. Existing
    /// versions therefore get their integration's repository; if that row is gone, they get the bot's current one.
    static let origins = """
        ALTER TABLE versions ADD COLUMN repository TEXT;
        UPDATE versions SET repository = coalesce(
            (SELECT url FROM integrations JOIN bots ON bots.id = integrations.bot
                JOIN repositories ON repositories.id = integrations.repository
                WHERE bots.name = substr(integration, 1, instr(integration, '#') - 1)
                AND integrations.number = CAST(substr(integration, instr(integration, '#') + 1) AS INTEGER)),
            (SELECT url FROM bots JOIN repositories ON repositories.id = bots.repository
                WHERE bots.name = substr(integration, 1, instr(integration, '#') - 1)));
        DROP INDEX versions_by_registry;
        CREATE INDEX versions_by_registry ON versions (registry, version, product, state, repository) WHERE registry IS NOT NULL;
        """
}
