/// A writer of texts that a YAML reader returns unchanged.
enum YAMLText {
    /// Returns the text without quotes if that is safe, otherwise in double quotes.
    static func scalar(_ text: String) -> String {
        isPlain(text) ? text : quoted(text)
    }

    /// Returns a list such as `[a, "b*"]`.
    static func list(_ texts: [String]) -> String { "[" + texts.map(scalar).joined(separator: ", ") + "]" }

    /// Returns whether a text is safe without quotes. The rule is narrower than YAML's: only letters, digits and a few signs without special meaning,
    /// and no word that other schemas read as a number or Boolean.
    private static func isPlain(_ text: String) -> Bool {
        guard let first = text.utf8.first, isLetter(first) || first == UInt8(ascii: "/") || isDigit(first) else {
            return false
        }
        guard text.utf8.allSatisfy({ isLetter($0) || isDigit($0) || "._-/@+=".utf8.contains($0) || $0 == 0x3A }) else {
            return false
        }
        if text.hasSuffix(":") { return false }
        return !["true", "false", "yes", "no", "on", "off", "null", "y", "n"].contains(text.lowercased())
            && !text.utf8.allSatisfy { isDigit($0) || "._-+:eExXoO".utf8.contains($0) }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            default:
                let isShown =
                    !scalar.properties.isNoncharacterCodePoint && scalar.value != 0xFEFF
                    && ![.control, .format, .lineSeparator, .paragraphSeparator].contains(
                        scalar.properties.generalCategory)
                if isShown {
                    result.unicodeScalars.append(scalar)
                } else {
                    let digits = String(scalar.value, radix: 16)
                    result += "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
                }
            }
        }
        return result + "\""
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
