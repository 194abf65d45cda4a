extension Schema {
    /// Bots whose files were away: what moved meanwhile, other bots' looks may have stored.
    static let returning = "ALTER TABLE bots ADD COLUMN is_returning INTEGER NOT NULL DEFAULT 0"
}
