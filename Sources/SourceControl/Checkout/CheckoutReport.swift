/// The results of a checkout.
package struct CheckoutReport: Sendable {
    /// The number of files and links that were written because they were missing or differed.
    package var written = 0
    /// The number of files, links and directories that were removed because they are no longer tracked, or are untracked and not ignored.
    package var removed = 0
    /// The number of tracked files and links that were left as they were, with their times.
    package var unchanged = 0
    /// Whether the workspace was emptied first, because that was requested, because it was never checked out before, or because its record was
    /// unreadable.
    package var isFresh = false
    /// The commit's files in the workspace.
    package var files = CheckedOutFiles(CheckoutRecord())
    /// The submodules of which only the empty directory was created.
    package var submodules: [String] = []

    package init() {}
}
