/// A way in which texts write bytes that they cannot contain literally. There are ways for URLs (RFC 3986, section 2.1), forms, JSON (RFC 8259,
/// section 7), strings of programming languages, XML, HTML and shells, and for languages that double a quote.
///
/// Escapes are only read here, not written. Writers differ in what they escape and in the case of their digits, but reading is the same for all.
enum Escaping: CaseIterable, Sendable {
    /// `%2F`.
    case percent
    /// `%2F`, and `+` for a space.
    case form
    /// JSON, C, the shells' `$'…'` and `printf %q`, Python, Ruby, Perl, Go, Rust and others: `\"`, `\$`, `\n`, `\x2f`, `\057`, `\u00e9` (two of
    /// these beyond 16 bits), `\u{e9}`, `\U0001f600`.
    case backslash
    /// As `backslash`, but `\xe9` is a character and not a byte, as in the output of Python's `ascii`.
    case character
    /// `&amp;`, `&#233;`, `&#xE9;`.
    case xml
    /// Quotes within the shells' single quotes: `'it'\''s'`, and `'it'"'"'s'` of dash and Python's shlex.
    case shell
    /// `'it''s'` of YAML, SQL and PowerShell. A language that doubles one quote does not double another, so each has a case.
    case doubledQuote
    /// `""` of CSV.
    case doubledDoubleQuote
    /// `$$` of make, `%%` of formats.
    case doubledSign
    /// PowerShell's `` `" ``.
    case backtick

    /// The meaning of bytes that begin with a byte which `opens`.
    enum Reading: Equatable {
        /// Not the beginning of an escape.
        case none
        /// The bytes are too few to decide.
        case more
        /// An escape of `width` bytes, and what it stands for.
        case byte(UInt8, width: Int)
        case scalar(Unicode.Scalar, width: Int)
        /// That number of single quotes.
        case quotes(count: Int, width: Int)
        /// The first `count` bytes are literal. Those after may begin an escape.
        case literal(count: Int)
    }

    /// The largest size of an escape in bytes: two `\u` in JSON, or a number with leading zeros in XML.
    static let longest = 12

    static let quote = UInt8(ascii: "'")
    private static let doubleQuote = UInt8(ascii: "\"")
    private static let backslashByte = UInt8(ascii: "\\")
    private static let backtickByte = UInt8(ascii: "`")
    private static let afterBacktick = Array("'\"$`".utf8)

    /// Whether the byte is a letter or a digit. Only numeric escapes stand for those.
    static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    /// Whether escapes of this kind can make a difference if only some bytes are searched for.
    func matters(_ isLookedFor: (UInt8) -> Bool) -> Bool {
        switch self {
        case .percent, .backslash, .xml: true
        // For texts without a space, the escapes of a form are those of any URL.
        case .form: isLookedFor(0x20)
        // The first bytes of U+0080 to U+00FF.
        case .character: isLookedFor(0xC2) || isLookedFor(0xC3)
        case .shell: isLookedFor(Self.quote) || isLookedFor(UInt8(ascii: "!"))
        case .doubledQuote, .doubledDoubleQuote, .doubledSign: doubled.contains(where: isLookedFor)
        case .backtick: Self.afterBacktick.contains(where: isLookedFor)
        }
    }

    /// Whether an escape begins with the byte.
    func opens(_ byte: UInt8) -> Bool {
        switch self {
        case .percent: byte == UInt8(ascii: "%")
        case .form: byte == UInt8(ascii: "%") || byte == UInt8(ascii: "+")
        case .backslash, .character: byte == Self.backslashByte
        case .xml: byte == UInt8(ascii: "&")
        case .shell: byte == Self.quote || opensAhead(byte)
        case .doubledQuote, .doubledDoubleQuote, .doubledSign: doubled.contains(byte)
        case .backtick: byte == Self.backtickByte
        }
    }

    /// The byte that is written twice.
    private var doubled: [UInt8] {
        switch self {
        case .doubledQuote: [Self.quote]
        case .doubledDoubleQuote: [Self.doubleQuote]
        case .doubledSign: [UInt8(ascii: "$"), UInt8(ascii: "%")]
        default: []
        }
    }

    /// Whether an escape that begins with the byte counts only at the beginning of a secret: a shell writes `\''it'` for `'it`, and dash writes
    /// `"'"'it'`. Within a secret both bytes are literal.
    func opensAhead(_ byte: UInt8) -> Bool {
        self == .shell && (byte == Self.backslashByte || byte == Self.doubleQuote)
    }

    /// Whether the byte is skipped directly after an escape, like the shell quote that reopens the string.
    func opensAgain(_ byte: UInt8) -> Bool { self == .shell && byte == Self.quote }

    /// Returns the first two bytes of each escape that can stand for a byte, or for a character that begins with it. A second byte of `nil` means any
    /// byte.
    func beginnings(of byte: UInt8) -> [(first: UInt8, second: UInt8?)] {
        switch self {
        case .percent, .form:
            let digit = String(byte >> 4, radix: 16)
            let percent = Set((digit + digit.uppercased()).utf8).map { (UInt8(ascii: "%"), UInt8?.some($0)) }
            return self == .form && byte == 0x20 ? percent + [(UInt8(ascii: "+"), nil)] : percent
        case .backslash, .character:
            var seconds = Array("xuU".utf8) + [UInt8(ascii: "0") + byte >> 6]
            seconds += Self.letters.filter { $0.byte == byte }.map(\.letter)
            if Self.isPunctuation(byte) { seconds.append(byte) }
            return seconds.map { (Self.backslashByte, $0) }
        case .xml:
            let name = Self.names.first { $0.byte == byte }?.name.first
            return ([UInt8(ascii: "#")] + (name.map { [$0] } ?? [])).map { (UInt8(ascii: "&"), $0) }
        case .shell where byte == Self.quote:
            return [
                (Self.quote, Self.backslashByte), (Self.quote, Self.doubleQuote), (Self.backslashByte, Self.quote),
                (Self.doubleQuote, Self.quote),
            ]
        case .shell: return byte == UInt8(ascii: "!") ? [(Self.quote, Self.backslashByte)] : []
        case .doubledQuote, .doubledDoubleQuote, .doubledSign: return doubled.contains(byte) ? [(byte, byte)] : []
        case .backtick: return Self.afterBacktick.contains(byte) ? [(Self.backtickByte, byte)] : []
        }
    }

    /// Reads the escape at the beginning of some bytes.
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
        case .backslash: return Self.readBackslash(bytes, isCharacter: false)
        case .character: return Self.readBackslash(bytes, isCharacter: true)
        case .xml: return Self.readXML(bytes)
        case .shell: return Self.readShell(bytes)
        case .doubledQuote, .doubledDoubleQuote, .doubledSign:
            guard bytes.count > 1 else { return .more }
            return bytes[1] == first ? .byte(first, width: 2) : .none
        case .backtick:
            guard bytes.count > 1 else { return .more }
            return Self.afterBacktick.contains(bytes[1]) ? .byte(bytes[1], width: 2) : .none
        }
    }

    // MARK: Shells

    /// Reads a shell's escape of quotes: `'\''`, and `'"'"'`, which dash also writes once for several quotes in a row. The last quote reopens the
    /// string; see `opensAgain`.
    private static func readShell(_ bytes: UnsafeRawBufferPointer) -> Reading {
        guard bytes.count > 1 else { return .more }
        switch (bytes[0], bytes[1]) {
        case (quote, backslashByte):
            guard bytes.count > 2 else { return .more }
            // git also writes `'\!'`.
            return bytes[2] == quote || bytes[2] == UInt8(ascii: "!") ? .byte(bytes[2], width: 3) : .none
        case (backslashByte, quote): return .byte(quote, width: 2)
        case (quote, doubleQuote): return quotes(bytes, from: 2)
        case (doubleQuote, quote): return quotes(bytes, from: 1)
        default: return .none
        }
    }

    /// Reads single quotes up to a double quote.
    private static func quotes(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Reading {
        var end = start
        while end < bytes.count, bytes[end] == quote { end += 1 }
        guard end < bytes.count else { return end < longest ? .more : .none }
        if bytes[end] == doubleQuote, end > start { return .quotes(count: end - start, width: end + 1) }
        return bytes[end] == backslashByte && end > start ? .literal(count: end - 1) : .none
    }

    // MARK: Backslashes

    /// The letters after a backslash, and the bytes that they stand for. Characters other than letters and digits stand for themselves.
    private static let letters: [(letter: UInt8, byte: UInt8)] = [
        (UInt8(ascii: "n"), 0x0A), (UInt8(ascii: "r"), 0x0D), (UInt8(ascii: "t"), 0x09), (UInt8(ascii: "b"), 0x08),
        (UInt8(ascii: "f"), 0x0C), (UInt8(ascii: "a"), 0x07), (UInt8(ascii: "v"), 0x0B), (UInt8(ascii: "e"), 0x1B),
        (UInt8(ascii: "E"), 0x1B),
    ]

    /// Whether a backslash may precede the byte. This includes the bytes of non-ASCII characters, which Perl's quotemeta escapes byte by byte.
    private static func isPunctuation(_ byte: UInt8) -> Bool {
        byte == 0x09 || byte >= 0x20 && byte != 0x7F && !isAlphanumeric(byte)
    }

    private static func readBackslash(_ bytes: UnsafeRawBufferPointer, isCharacter: Bool) -> Reading {
        guard bytes.count > 1 else { return .more }
        switch bytes[1] {
        case UInt8(ascii: "x"), UInt8(ascii: "u"):
            guard bytes.count > 2 else { return .more }
            if bytes[2] == UInt8(ascii: "{") { return readBraced(bytes) }
            guard bytes[1] == UInt8(ascii: "x") else { return readUTF16(bytes) }
            switch number(bytes, from: 2, digits: 2) {
            case .none: return .none
            case .more: return .more
            case .some(let value):
                return isCharacter && value > 0x7F ? scalar(value, width: 4) : .byte(UInt8(value), width: 4)
            }
        case UInt8(ascii: "U"):
            switch number(bytes, from: 2, digits: 8) {
            case .none: return .none
            case .more: return .more
            case .some(let value): return scalar(value, width: 10)
            }
        case UInt8(ascii: "0")...UInt8(ascii: "3"): return readOctal(bytes)
        case let byte where isPunctuation(byte): return .byte(byte, width: 2)
        case let byte: return letters.first { $0.letter == byte }.map { .byte($0.byte, width: 2) } ?? .none
        }
    }

    private static func readOctal(_ bytes: UnsafeRawBufferPointer) -> Reading {
        var value: UInt8 = 0
        for position in 1...3 {
            guard position < bytes.count else { return .more }
            guard UInt8(ascii: "0")...UInt8(ascii: "7") ~= bytes[position] else { return .none }
            value = value << 3 | (bytes[position] - UInt8(ascii: "0"))
        }
        return .byte(value, width: 4)
    }

    /// Reads `\u{1f600}` of Rust, Ruby, Swift and JavaScript, and `\x{1f600}` of Perl.
    private static func readBraced(_ bytes: UnsafeRawBufferPointer) -> Reading {
        var value: UInt32 = 0
        for position in 3..<max(3, min(bytes.count, longest)) {
            if bytes[position] == UInt8(ascii: "}"), position > 3 { return scalar(value, width: position + 1) }
            guard let digit = digit(bytes[position]) else { return .none }
            value = value << 4 | digit
            guard value <= 0x10FFFF else { return .none }
        }
        return bytes.count < longest ? .more : .none
    }

    private static func readUTF16(_ bytes: UnsafeRawBufferPointer) -> Reading {
        switch number(bytes, from: 2, digits: 4) {
        case .none: return .none
        case .more: return .more
        case .some(let high) where 0xD800...0xDBFF ~= high:
            guard bytes.count > 6 else { return .more }
            guard bytes[6] == backslashByte else { return .none }
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

    /// The names after the ampersand, and the bytes that they stand for.
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
