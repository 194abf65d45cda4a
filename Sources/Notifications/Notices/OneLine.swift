import Model

/// Reduces text from outside to one line of a message.
package enum OneLine {
    /// Returns the text with each run of blanks and hidden characters (`isHiddenInText`) replaced by one space. A longer text is cut, with `…` at its
    /// end.
    /// - Parameter maximum: The most characters.
    static func text(_ text: String, maximum: Int) -> String {
        var scalars = String.UnicodeScalarView()
        // This is enough for the characters that remain, even with many combining marks.
        for scalar in text.unicodeScalars.prefix(maximum * 8) {
            let isBlank = scalar.isHiddenInText || scalar.properties.generalCategory == .spaceSeparator
            if !isBlank {
                scalars.append(scalar)
            } else if let last = scalars.last, last != " " {
                scalars.append(" ")
            }
        }
        while scalars.last == " " { scalars.removeLast() }
        let line = String(scalars)
        return line.count <= maximum ? line : line.prefix(maximum - 1) + "…"
    }
}
