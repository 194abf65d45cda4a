extension Schema {
    /// Where each version's commit is from. A bot can be pointed at another repository, and what it published before stays of the first:
    /// so for those of before the integration's own repository is taken, and the bot's of today where that is gone.
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
