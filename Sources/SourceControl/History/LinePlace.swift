/// A line of a file of a commit.
package struct LinePlace: Hashable, Sendable {
    /// The path relative to the root, with `/` as the separator.
    package var path: String
    /// The line number, which counts from 1.
    package var line: Int

    package init(path: String, line: Int) {
        self.path = path
        self.line = line
    }
}
