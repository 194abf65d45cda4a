/// Text from outside on its way into one line of a message.
enum OneLine {
    /// Without control characters, line and paragraph separators and what reorders text (CVE-2021-42574), each run of them and of
    /// blanks as one blank; cut with `…` where it is longer.
    /// - Parameter maximum: In characters.
    static func text(_ text: String, maximum: Int) -> String {
        var scalars = String.UnicodeScalarView()
        // Enough for the characters that stay, whatever marks are piled on them.
        for scalar in text.unicodeScalars.prefix(maximum * 8) {
            let isBlank =
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator: true
                case .format: isReordering(scalar)
                default: false
                }
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

    private static func isReordering(_ scalar: Unicode.Scalar) -> Bool {
        (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
    }
}
