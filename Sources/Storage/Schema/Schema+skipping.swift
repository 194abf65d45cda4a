extension Schema {
    /// Whether an integration was skipped because of its bot's `paths` or a word in its commit's message. Such an integration is canceled.
    static let skipping = "ALTER TABLE integrations ADD COLUMN is_skipped INTEGER NOT NULL DEFAULT 0"
}
