package import Model

/// The limits of `retention` in the settings for what can be made again, and for bots without a file. Without a limit everything stays.
package struct CacheLimits: Hashable, Sendable {
    /// How long a workspace stays that no job uses.
    package var workspaces: Duration?
    /// The most bytes of all workspaces and mirrors together. Only workspaces are removed to keep to it: mirrors of repositories that a bot or an
    /// integration names always stay.
    package var caches: ByteCount?
    /// How long a bot without a file stays.
    package var retired: Duration?

    package init(workspaces: Duration? = nil, caches: ByteCount? = nil, retired: Duration? = nil) {
        self.workspaces = workspaces
        self.caches = caches
        self.retired = retired
    }
}
