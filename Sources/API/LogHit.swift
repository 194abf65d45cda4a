/// A line of a log that contains a text.
package struct LogHit: Codable, Hashable, Sendable {
    /// The number of the line, counted from 1.
    package var line: Int
    /// The line without terminal sequences, or about 400 bytes of it.
    package var text: String

    /// Creates a value from all its properties.
    package init(line: Int, text: String) {
        self.line = line
        self.text = text
    }
}
