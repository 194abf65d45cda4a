extension Schema {
    /// The version that a trigger published. Later uploads send that version, also after a restart.
    static let triggerVersions = "ALTER TABLE triggers ADD COLUMN version TEXT"
}
