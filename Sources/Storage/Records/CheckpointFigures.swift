/// What copying the log into the database's file came to since the store was opened.
package struct CheckpointFigures: Hashable, Sendable {
    /// In the log after the last commit, and at most; 4 KiB each.
    package var pages = 0
    package var largest = 0
    package var checkpoints = 0
    package var longest: Duration = .zero
    /// How often the writer had to begin the log anew, since no moment without a write came.
    package var relieved = 0
    /// Those that came to nothing: a reader held the log, or the disk is full. They are tried again.
    package var failed = 0
}
