extension Schema {
    /// What version a trigger published. Uploads after it send that one, also after a restart.
    static let triggerVersions = "ALTER TABLE triggers ADD COLUMN version TEXT"
}
