extension Schema {
    /// Whether an integration was left out by its bot's `paths` or by a word in its commit's message: it is canceled then.
    static let skipping = "ALTER TABLE integrations ADD COLUMN is_skipped INTEGER NOT NULL DEFAULT 0"
}
