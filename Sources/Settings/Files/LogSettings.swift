/// What is written to the log: `log` of the settings. A reload applies it.
package struct LogSettings: Hashable, Sendable {
    /// The least important lines that are written.
    package enum Level: String, Hashable, Sendable, CaseIterable { case debug, info, notice, warning, error }

    package var level: Level
    /// Whether each request has a line.
    package var hasRequests: Bool

    package init(level: Level = .info, hasRequests: Bool = false) {
        (self.level, self.hasRequests) = (level, hasRequests)
    }

    static func read(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> LogSettings {
        guard let node, let fields = Fields(node, Keys.log, of: "`log`", &diagnostics) else { return LogSettings() }
        return LogSettings(
            level: diagnostics.word(fields["level"], "level") ?? .info,
            hasRequests: diagnostics.truth(fields["requests"], "requests") ?? false)
    }
}
