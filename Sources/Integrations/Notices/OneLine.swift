import Model

/// Text from outside on its way into one line of a message.
enum OneLine {
    /// Returns the text without characters that are hidden in text (`isHiddenInText`), with each run of them and of blanks as one blank, cut with
    /// `…` if it is longer.
    /// - Parameter maximum: In characters.
    static func text(_ text: String, maximum: Int) -> String {
        var scalars = String.UnicodeScalarView()
        // Enough for the characters that stay, whatever marks are piled on them.
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
