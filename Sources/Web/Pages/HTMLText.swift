/// Functions that make text safe for HTML.
enum HTMLText {
    /// Escapes text by Unicode scalars. Escaping by characters would miss a `"` that a combining mark has joined into one character, which a browser
    /// still reads as the end of an attribute.
    static func escape(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        append(text.utf8, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    static func append(_ text: some Sequence<UInt8>, to bytes: inout [UInt8]) {
        for byte in text {
            switch byte {
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "\""): bytes += "&quot;".utf8
            case UInt8(ascii: "'"): bytes += "&#39;".utf8
            default: bytes.append(byte)
            }
        }
    }

    /// Prepares text for mustache's own escaping, which works by characters. Where a mark or a prefix joins one of the five special characters to a
    /// longer character, a zero-width space on both sides separates them. The space cannot be joined (Unicode Standard Annex 29, rules GB4 and GB5:
    /// its break property is Control).
    ///
    /// Invisible characters that reorder text are replaced with their visible names (CVE-2021-42574, "Trojan Source").
    static func prepared(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { !$0.isASCII }) else { return text }
        var scalars = String.UnicodeScalarView()
        for character in text {
            let isJoined = character.unicodeScalars.count > 1
            for scalar in character.unicodeScalars {
                switch scalar {
                case "<", ">", "&", "\"", "'":
                    if isJoined { scalars.append("\u{200B}") }
                    scalars.append(scalar)
                    if isJoined { scalars.append("\u{200B}") }
                case _ where isBidirectional(scalar):
                    scalars.append(contentsOf: "[U+\(String(scalar.value, radix: 16, uppercase: true))]".unicodeScalars)
                default: scalars.append(scalar)
                }
            }
        }
        return String(scalars)
    }

    /// Returns whether a character changes the direction of text. U+202A–202E and U+2066–2069 are embeddings, overrides and isolates; U+061C, U+200E
    /// and U+200F are marks.
    static func isBidirectional(_ scalar: Unicode.Scalar) -> Bool {
        (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
            || [0x061C, 0x200E, 0x200F].contains(scalar.value)
    }

    /// Returns a page whose links to this service begin with another path than `/`, for a proxy that serves it under a path.
    ///
    /// Text from outside the service is not changed, because quotation marks in it are escaped.
    static func rebased(_ page: String, on base: String) -> String {
        if base.isEmpty { return page }
        let root = escape(base)
        return ["href", "src", "action"].reduce(page) {
            $0.replacing(" \($1)=\"/", with: " \($1)=\"\(root)/")
        }
    }
}
