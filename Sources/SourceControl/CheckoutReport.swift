/// What a checkout did.
package struct CheckoutReport: Sendable {
    /// Files and links written because they were absent or differed.
    package var written = 0
    /// Files, links and directories removed: no longer tracked, or untracked and not ignored.
    package var removed = 0
    /// Tracked files and links left alone, with their times.
    package var unchanged = 0
    /// Whether the workspace was emptied first: asked for, never checked out before, or its record was unreadable.
    package var isFresh = false
    /// The commit's files in the workspace.
    package var files = CheckedOutFiles(CheckoutRecord())
    /// Submodules, of which only the empty directory is made.
    package var submodules: [String] = []

    package init() {}
}
