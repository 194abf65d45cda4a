/// Functions that make untrusted text safe to show: recipes may be hostile, and messages reach terminals and pages.
enum Printable {
    /// The most characters (Unicode scalars) shown of one value.
    static let limit = 80

    /// Returns the text in backquotes. It is shortened, and control characters and line breaks are written as `\u{…}`.
    static func quoted(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(limit)
        let isShortened = text.unicodeScalars.dropFirst(limit).first != nil
        return "`" + escaped(shown) + (isShortened ? "…" : "") + "`"
    }

    /// Returns the text with all characters escaped that would break a line or move a cursor.
    static func oneLine(_ text: String) -> String { escaped(text.unicodeScalars[...]) }

    private static func escaped(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var result = String.UnicodeScalarView()
        for scalar in scalars {
            switch scalar.properties.generalCategory {
            // Format characters are escaped, too: they can reverse a line's direction.
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
                result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}
