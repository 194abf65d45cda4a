import Encodings

/// The preparation of a report's bytes for the XML parser.
enum XMLText {
    /// Returns well-formed UTF-8 without characters that XML forbids. Bytes that are not UTF-8, control characters and references to them become
    /// U+FFFD. They are common in test output, and many tools write them unescaped.
    ///
    /// It takes linear time, in one pass over the bytes.
    /// - Throws: The reason to refuse the document: an encoding that is not supported.
    static func prepared(_ bytes: [UInt8]) throws(Refusal) -> [UInt8] {
        var text = decoded(bytes)
        if let declared = declaredEncoding(text) {
            switch declared {
            case "utf-8", "utf8", "us-ascii", "ascii", "utf-16", "utf-16le", "utf-16be", "unicode": break
            case "iso-8859-1", "latin1", "iso-8859-15", "windows-1252", "cp1252": text = fromLatin1(bytes)
            default: throw Refusal(text: "encoding \(TextLimit.cut(declared, toBytes: 40)) is not supported; UTF-8 is")
            }
        }
        return withoutForbidden(withoutDeclaration(text))
    }

    struct Refusal: Error, Sendable {
        var text: String
    }

    private static func decoded(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return repaired(bytes.dropFirst(3)) }
        return UTF16Text.utf8(bytes) ?? repaired(bytes[...])
    }

    private static func repaired(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        Array(String(decoding: bytes, as: UTF8.self).utf8)
    }

    private static func fromLatin1(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for byte in bytes {
            if byte < 0x80 {
                text.append(byte)
            } else {
                text.append(0xC0 | byte >> 6)
                text.append(0x80 | byte & 0x3F)
            }
        }
        return text
    }

    /// Returns the encoding named in the XML declaration, in lowercase; `nil` if there is none.
    private static func declaredEncoding(_ text: [UInt8]) -> String? {
        let start = text.prefix(1024).drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
        guard start.starts(with: Array("<?xml".utf8)), let end = start.firstIndex(of: UInt8(ascii: ">")) else {
            return nil
        }
        let declaration = String(decoding: start[..<end], as: UTF8.self)
        guard let range = declaration.range(ofFirst: "encoding") else { return nil }
        let quotes: Set<Character> = ["\"", "'"]
        let value = declaration[range.upperBound...].drop { !quotes.contains($0) }.dropFirst().prefix {
            !quotes.contains($0)
        }
        return value.isEmpty ? nil : value.lowercased()
    }

    /// Returns the text with blanks instead of the XML declaration, whose encoding is no longer correct.
    private static func withoutDeclaration(_ text: [UInt8]) -> [UInt8] {
        var text = text
        guard let start = text.firstIndex(where: { $0 > 0x20 }), text[start...].starts(with: Array("<?xml ".utf8)),
            let end = text[start...].firstIndex(of: UInt8(ascii: ">"))
        else { return text }
        for index in start...end where text[index] != 0x0A { text[index] = 0x20 }
        return text
    }

    private static func withoutForbidden(_ text: [UInt8]) -> [UInt8] {
        var clean: [UInt8] = []
        clean.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            let byte = text[index]
            if byte < 0x20, byte != 0x09, byte != 0x0A, byte != 0x0D {
                clean += replacement
                index += 1
            } else if byte == 0xEF,
                text[index...].prefix(3) == [0xEF, 0xBF, 0xBE] || text[index...].prefix(3) == [0xEF, 0xBF, 0xBF]
            {
                // These are U+FFFE and U+FFFF.
                clean += replacement
                index += 3
            } else if byte == UInt8(ascii: "&"), index + 1 < text.count, text[index + 1] == UInt8(ascii: "#"),
                let (length, isAllowed) = reference(text[index...]), !isAllowed
            {
                clean += replacement
                index += length
            } else {
                clean.append(byte)
                index += 1
            }
        }
        return clean
    }

    private static let replacement: [UInt8] = [0xEF, 0xBF, 0xBD]

    /// Returns the length of a reference like `&#x1b;`, and whether XML 1.0 (section 2.2) allows its character; `nil` for other texts.
    private static func reference(_ text: ArraySlice<UInt8>) -> (length: Int, isAllowed: Bool)? {
        let body = text.dropFirst(2).prefix(12)
        guard let end = body.firstIndex(of: UInt8(ascii: ";")) else { return nil }
        let digits = String(decoding: body[..<end], as: UTF8.self)
        let isHexadecimal = digits.hasPrefix("x")
        guard let value = UInt32(isHexadecimal ? digits.dropFirst() : digits[...], radix: isHexadecimal ? 16 : 10)
        else {
            return nil
        }
        let isAllowed =
            value == 9 || value == 10 || value == 13 || (0x20...0xD7FF).contains(value)
            || (0xE000...0xFFFD).contains(value) || (0x10000...0x10FFFF).contains(value)
        return (end - text.startIndex + 1, isAllowed)
    }
}
