/// Makes what others wrote fit to be shown: recipes are hostile, and messages reach terminals and pages.
enum Printable {
    /// As much as is shown of one value.
    static let limit = 80

    /// The text in backquotes, shortened, control characters and line breaks as `\u{…}`.
    static func quoted(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(limit)
        let isShortened = text.unicodeScalars.dropFirst(limit).first != nil
        return "`" + escaped(shown) + (isShortened ? "…" : "") + "`"
    }

    /// The text with everything escaped that would break a line or move a cursor.
    static func oneLine(_ text: String) -> String { escaped(text.unicodeScalars[...]) }

    private static func escaped(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var result = String.UnicodeScalarView()
        for scalar in scalars {
            switch scalar.properties.generalCategory {
            // Format characters too: they can turn a line's direction round.
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
                result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}
