extension Schema {
    /// Marks bots whose files were missing: other bots' scans may have stored the movements of that time.
    static let returning = "ALTER TABLE bots ADD COLUMN is_returning INTEGER NOT NULL DEFAULT 0"
}
