/// How a kind of text stands for bytes that cannot stand for themselves in it: URLs (RFC 3986 section 2.1), forms, JSON (RFC 8259
/// section 7), XML and HTML.
///
/// Read, not written: writers differ in what they escape and in the case of their digits, but one reading fits all of them.
enum Escaping: CaseIterable, Sendable {
    /// `%2F`.
    case percent
    /// The same, and `+` for a space.
    case form
    /// `\"`, `\n`, `\u00e9`, and two of these for what is beyond 16 bits.
    case json
    /// `&amp;`, `&#233;`, `&#xE9;`.
    case xml

    /// What some bytes are that begin with what `opens`.
    enum Reading: Equatable {
        /// Not the beginning of an escape.
        case none
        /// More bytes decide.
        case more
        /// An escape of `width` bytes, and what it stands for.
        case byte(UInt8, width: Int)
        case scalar(Unicode.Scalar, width: Int)
    }

    /// The most bytes of an escape: two `\u` in JSON, and in XML as many with zeros before.
    static let longest = 12

    /// Whether writers escape the byte at all. Letters and digits stand for themselves in all of them, which keeps a `%` or `\` before them
    /// from being looked into.
    static func mayEscape(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            false
        default: true
        }
    }

    /// Whether an escape begins with the byte.
    func opens(_ byte: UInt8) -> Bool {
        switch self {
        case .percent: byte == UInt8(ascii: "%")
        case .form: byte == UInt8(ascii: "%") || byte == UInt8(ascii: "+")
        case .json: byte == UInt8(ascii: "\\")
        case .xml: byte == UInt8(ascii: "&")
        }
    }

    /// The first two bytes of each escape that can stand for a byte, or begin a character that begins with it; a second of nil is any.
    func beginnings(of byte: UInt8) -> [(first: UInt8, second: UInt8?)] {
        guard Self.mayEscape(byte) else { return [] }
        switch self {
        case .percent, .form:
            let digit = String(byte >> 4, radix: 16)
            let percent = Set((digit + digit.uppercased()).utf8).map { (UInt8(ascii: "%"), UInt8?.some($0)) }
            return self == .form && byte == 0x20 ? percent + [(UInt8(ascii: "+"), nil)] : percent
        case .json:
            let short = Self.letters.first { $0.byte == byte }?.letter
            return ([UInt8(ascii: "u")] + (short.map { [$0] } ?? [])).map { (UInt8(ascii: "\\"), $0) }
        case .xml:
            let name = Self.names.first { $0.byte == byte }?.name.first
            return ([UInt8(ascii: "#")] + (name.map { [$0] } ?? [])).map { (UInt8(ascii: "&"), $0) }
        }
    }

    /// Reads the escape with which bytes begin.
    func read(_ bytes: UnsafeRawBufferPointer) -> Reading {
        guard let first = bytes.first, opens(first) else { return .none }
        switch self {
        case .form where first == UInt8(ascii: "+"): return .byte(0x20, width: 1)
        case .percent, .form:
            return switch Self.number(bytes, from: 1, digits: 2) {
            case .none: .none
            case .more: .more
            case .some(let value): .byte(UInt8(value), width: 3)
            }
        case .json: return Self.readJSON(bytes)
        case .xml: return Self.readXML(bytes)
        }
    }

    // MARK: JSON

    /// What stands after the backslash, and for what.
    private static let letters: [(letter: UInt8, byte: UInt8)] = [
        (UInt8(ascii: "\""), UInt8(ascii: "\"")), (UInt8(ascii: "\\"), UInt8(ascii: "\\")),
        (UInt8(ascii: "/"), UInt8(ascii: "/")), (UInt8(ascii: "b"), 0x08), (UInt8(ascii: "f"), 0x0C),
        (UInt8(ascii: "n"), 0x0A), (UInt8(ascii: "r"), 0x0D), (UInt8(ascii: "t"), 0x09),
    ]

    private static func readJSON(_ bytes: UnsafeRawBufferPointer) -> Reading {
        guard bytes.count > 1 else { return .more }
        guard bytes[1] == UInt8(ascii: "u") else {
            return letters.first { $0.letter == bytes[1] }.map { .byte($0.byte, width: 2) } ?? .none
        }
        switch number(bytes, from: 2, digits: 4) {
        case .none: return .none
        case .more: return .more
        case .some(let high) where 0xD800...0xDBFF ~= high:
            guard bytes.count > 6 else { return .more }
            guard bytes[6] == UInt8(ascii: "\\") else { return .none }
            guard bytes.count > 7 else { return .more }
            guard bytes[7] == UInt8(ascii: "u") else { return .none }
            switch number(bytes, from: 8, digits: 4) {
            case .some(let low) where 0xDC00...0xDFFF ~= low:
                return scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00), width: 12)
            case .more: return .more
            case .none, .some: return .none
            }
        case .some(let value): return scalar(value, width: 6)
        }
    }

    // MARK: XML

    /// What stands after the ampersand, and for what.
    private static let names: [(name: [UInt8], byte: UInt8)] = [
        (Array("amp;".utf8), UInt8(ascii: "&")), (Array("lt;".utf8), UInt8(ascii: "<")),
        (Array("gt;".utf8), UInt8(ascii: ">")), (Array("quot;".utf8), UInt8(ascii: "\"")),
        (Array("apos;".utf8), UInt8(ascii: "'")),
    ]

    private static func readXML(_ bytes: UnsafeRawBufferPointer) -> Reading {
        guard bytes.count > 1 else { return .more }
        guard bytes[1] == UInt8(ascii: "#") else { return readName(bytes) }
        guard bytes.count > 2 else { return .more }
        let isHexadecimal = bytes[2] | 0x20 == UInt8(ascii: "x")
        let start = isHexadecimal ? 3 : 2
        var value: UInt32 = 0
        for position in start..<max(start, min(bytes.count, longest)) {
            if bytes[position] == UInt8(ascii: ";"), position > start { return scalar(value, width: position + 1) }
            guard let digit = digit(bytes[position]), isHexadecimal || digit < 10 else { return .none }
            value = value * (isHexadecimal ? 16 : 10) + digit
            guard value <= 0x10FFFF else { return .none }
        }
        return bytes.count < longest ? .more : .none
    }

    private static func readName(_ bytes: UnsafeRawBufferPointer) -> Reading {
        for (name, byte) in names {
            let count = min(name.count, bytes.count - 1)
            guard (0..<count).allSatisfy({ name[$0] == bytes[$0 + 1] }) else { continue }
            return count == name.count ? .byte(byte, width: count + 1) : .more
        }
        return .none
    }

    // MARK: Numbers

    private enum Number { case none, more, some(UInt32) }

    private static func number(_ bytes: UnsafeRawBufferPointer, from start: Int, digits: Int) -> Number {
        var value: UInt32 = 0
        for position in start..<start + digits {
            guard position < bytes.count else { return .more }
            guard let digit = digit(bytes[position]) else { return .none }
            value = value << 4 | digit
        }
        return .some(value)
    }

    private static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    private static func scalar(_ value: UInt32, width: Int) -> Reading {
        Unicode.Scalar(value).map { .scalar($0, width: width) } ?? .none
    }
}
