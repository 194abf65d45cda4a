/// Prepares a report's bytes for the XML parser.
enum XMLText {
    /// Well-formed UTF-8 without what XML forbids: bytes that are no UTF-8, control characters and references to them (test
    /// output is full of them, and many tools write them unescaped) become U+FFFD.
    ///
    /// Linear; one pass over the bytes.
    /// - Throws: Why the document is refused: a document type, which is where entities come from (billion laughs, external
    ///   files), or an encoding in which it could hide.
    static func prepared(_ bytes: [UInt8]) throws(Refusal) -> [UInt8] {
        var text = try decoded(bytes)
        if let declared = declaredEncoding(text) {
            switch declared {
            case "utf-8", "utf8", "us-ascii", "ascii", "utf-16", "utf-16le", "utf-16be", "unicode": break
            case "iso-8859-1", "latin1", "iso-8859-15", "windows-1252", "cp1252": text = fromLatin1(bytes)
            default: throw Refusal(text: "encoding \(TextLimit.cut(declared, toBytes: 40)) is not supported; UTF-8 is")
            }
        }
        var clean = withoutForbidden(withoutDeclaration(text))
        try check(&clean)
        return clean
    }

    struct Refusal: Error, Sendable {
        var text: String
    }

    private static func decoded(_ bytes: [UInt8]) throws(Refusal) -> [UInt8] {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return repaired(bytes.dropFirst(3)) }
        if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0, 0x3C]) { return utf16(bytes, high: 0) }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0x3C, 0]) { return utf16(bytes, high: 1) }
        return repaired(bytes[...])
    }

    private static func repaired(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        Array(String(decoding: bytes, as: UTF8.self).utf8)
    }

    /// UTF-16 of either order as UTF-8; a half unit at the end is dropped, a lone surrogate becomes U+FFFD.
    private static func utf16(_ bytes: [UInt8], high: Int) -> [UInt8] {
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        var index = 0
        while index + 1 < bytes.count {
            units.append(UInt16(bytes[index + high]) << 8 | UInt16(bytes[index + 1 - high]))
            index += 2
        }
        if units.first == 0xFEFF { units.removeFirst() }
        return Array(String(decoding: units, as: UTF16.self).utf8)
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

    /// The encoding named in the XML declaration, in lower case.
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

    /// With blanks for the XML declaration: what it says of the encoding is no longer true.
    private static func withoutDeclaration(_ text: [UInt8]) -> [UInt8] {
        var text = text
        guard let start = text.firstIndex(where: { $0 > 0x20 }), text[start...].starts(with: Array("<?xml ".utf8)),
            let end = end(of: Array("?>".utf8), in: text, from: start)
        else { return text }
        for index in start..<end where text[index] != 0x0A { text[index] = 0x20 }
        return text
    }

    /// Refuses a document type outside of comments, CDATA sections and processing instructions (in them it does no harm: a
    /// test may well print one), and anything after the root element: Foundation's parser of Swift 6.3.1 stops there
    /// without a word, and the second of two reports in one file would be lost.
    ///
    /// Processing instructions become blanks: they say nothing to us, and Foundation's parser of Swift 6.3.1 dereferences
    /// null at one without data (`<?x?>`).
    private static func check(_ text: inout [UInt8]) throws(Refusal) {
        var index = 0
        var depth = 0
        var hasRoot = false
        var breaks: [Int] = []
        while let found = text[index...].firstIndex(of: UInt8(ascii: "<")) {
            let rest = text[found...].prefix(16)
            if hasRoot, depth <= 0, text[index..<found].contains(where: { $0 > 0x20 }) { throw afterRoot }
            if rest.starts(with: documentType) { throw Refusal(text: "a document type (<!DOCTYPE) is not allowed") }
            if let (start, mark) = sections.first(where: { rest.starts(with: $0.0) }) {
                index = end(of: mark, in: text, from: found + start.count) ?? text.count
                if text[found + 1] == UInt8(ascii: "?") {
                    for place in found..<index where text[place] != 0x0A { text[place] = 0x20 }
                } else if index - found > maximumSectionBytes, start.last == UInt8(ascii: "[") {
                    breaks += Self.breaks(of: text, in: (found + start.count)..<(index - mark.count))
                }
                continue
            }
            guard let close = try endOfTag(in: text, from: found + 1) else {
                if hasRoot, depth <= 0 { throw afterRoot }
                return
            }
            if text[found + 1] == UInt8(ascii: "/") {
                if hasRoot, depth <= 0 { throw afterRoot }
                depth -= 1
            } else {
                if depth <= 0, hasRoot { throw Refusal(text: "not well-formed XML, it has two root elements") }
                hasRoot = true
                if text[close - 1] != UInt8(ascii: "/") { depth += 1 }
            }
            index = close + 1
        }
        if hasRoot, depth <= 0, text[index...].contains(where: { $0 > 0x20 }) { throw afterRoot }
        guard !breaks.isEmpty else { return }
        var parts: [UInt8] = []
        parts.reserveCapacity(text.count + breaks.count * 12)
        var start = 0
        for place in breaks {
            parts += text[start..<place]
            parts += Array("]]><![CDATA[".utf8)
            start = place
        }
        text = parts + text[start...]
    }

    /// A longer CDATA section is made into several: libxml2 2.9 wants all of one in its buffer, which has at most 10,000,000
    /// bytes, and a test may well print more.
    private static let maximumSectionBytes = 1 << 20

    /// Places between two characters, none beside a bracket.
    private static func breaks(of text: [UInt8], in section: Range<Int>) -> [Int] {
        var places: [Int] = []
        var place = section.lowerBound + maximumSectionBytes
        while place < section.upperBound {
            let (last, next) = (text[place - 1], text[place])
            if next & 0xC0 == 0x80 || [last, next].contains(UInt8(ascii: "]")) {
                place += 1
            } else {
                places.append(place)
                place += maximumSectionBytes
            }
        }
        return places
    }

    private static let afterRoot = Refusal(text: "not well-formed XML, something follows the root element")

    /// The most attributes of an element: libxml2 2.9 compares each with all before it. Real reports have some twenty.
    static let maximumAttributes = 200

    /// The place of the `>` that ends a tag; one within quotes does not.
    private static func endOfTag(in text: [UInt8], from start: Int) throws(Refusal) -> Int? {
        var quote: UInt8?
        var attributes = 0
        for index in start..<text.count {
            let byte = text[index]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
                attributes += 1
                guard attributes <= maximumAttributes else {
                    throw Refusal(text: "an element with more than \(maximumAttributes) attributes")
                }
            } else if byte == UInt8(ascii: ">") {
                return index
            }
        }
        return nil
    }

    private static let documentType = Array("<!DOCTYPE".utf8)
    private static let sections: [([UInt8], [UInt8])] = [
        (Array("<!--".utf8), Array("-->".utf8)), (Array("<![CDATA[".utf8), Array("]]>".utf8)),
        (Array("<?".utf8), Array("?>".utf8)),
    ]

    private static func end(of mark: [UInt8], in text: [UInt8], from start: Int) -> Int? {
        var index = start
        while index < text.count, let found = text[index...].firstIndex(of: mark[0]) {
            if text[found...].starts(with: mark) { return found + mark.count }
            index = found + 1
        }
        return nil
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

    /// The length of a reference like `&#x1b;` and whether XML 1.0 (section 2.2) allows its character.
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
