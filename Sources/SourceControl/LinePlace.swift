/// A line of a file of a commit.
package struct LinePlace: Hashable, Sendable {
    /// From the root, with `/` between.
    package var path: String
    /// Counts from 1.
    package var line: Int

    package init(path: String, line: Int) {
        self.path = path
        self.line = line
    }
}
