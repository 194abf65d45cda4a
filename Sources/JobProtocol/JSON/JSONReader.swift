/// A parser of one JSON text. Its time is linear in the length, and `JSON.depthLimit` limits its recursion.
struct JSONReader {
    private let bytes: [UInt8]
    private let limit: Int
    private var position = 0

    init(bytes: [UInt8], limit: Int) {
        self.bytes = bytes
        self.limit = limit
    }

    mutating func read() throws(JobProtocolError) -> JSON {
        guard bytes.count <= limit else {
            throw JobProtocolError(.overLimit, "read JSON", "\(bytes.count) bytes, at most \(limit) are accepted")
        }
        let value = try value(depth: 0)
        skipWhiteSpace()
        guard position == bytes.count else { throw malformed("something follows the value") }
        return value
    }

    private func malformed(_ what: String) -> JobProtocolError {
        JobProtocolError(.malformed, "read JSON", "\(what) at byte \(position)")
    }

    private mutating func skipWhiteSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    }

    private mutating func value(depth: Int) throws(JobProtocolError) -> JSON {
        guard depth <= JSON.depthLimit else {
            throw JobProtocolError(.overLimit, "read JSON", "more than \(JSON.depthLimit) levels at byte \(position)")
        }
        skipWhiteSpace()
        guard position < bytes.count else { throw malformed("the text ends too early") }
        switch bytes[position] {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func word(_ word: String, _ value: JSON) throws(JobProtocolError) -> JSON {
        guard bytes[position...].starts(with: word.utf8) else { throw malformed("an unknown word") }
        position += word.utf8.count
        return value
    }

    private mutating func object(depth: Int) throws(JobProtocolError) -> JSON {
        var members: [String: JSON] = [:]
        position += 1
        skipWhiteSpace()
        if next(is: "}") { return .object(members) }
        while true {
            skipWhiteSpace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { throw malformed("no key") }
            let key = try string()
            skipWhiteSpace()
            guard next(is: ":") else { throw malformed("no colon") }
            guard members.updateValue(try value(depth: depth + 1), forKey: key) == nil else {
                throw malformed("a key that was there before")
            }
            skipWhiteSpace()
            if next(is: "}") { return .object(members) }
            guard next(is: ",") else { throw malformed("no comma") }
        }
    }

    private mutating func array(depth: Int) throws(JobProtocolError) -> JSON {
        var elements: [JSON] = []
        position += 1
        skipWhiteSpace()
        if next(is: "]") { return .array(elements) }
        while true {
            elements.append(try value(depth: depth + 1))
            skipWhiteSpace()
            if next(is: "]") { return .array(elements) }
            guard next(is: ",") else { throw malformed("no comma") }
        }
    }

    private mutating func next(is character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func string() throws(JobProtocolError) -> String {
        position += 1
        var content: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: content, as: UTF8.self) else { throw malformed("no UTF-8") }
                return text
            case UInt8(ascii: "\\"): try escape(into: &content)
            case 0..<0x20: throw malformed("a control character in a string")
            default: content.append(byte)
            }
        }
        throw malformed("a string without end")
    }

    private mutating func escape(into content: inout [UInt8]) throws(JobProtocolError) {
        guard position < bytes.count else { throw malformed("a string without end") }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(byte)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "u"):
            var code = try hexadecimal()
            if 0xD800..<0xDC00 ~= code, bytes[position...].starts(with: "\\u".utf8) {
                position += 2
                let low = try hexadecimal()
                guard 0xDC00..<0xE000 ~= low else { throw malformed("half a surrogate pair") }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw malformed("half a surrogate pair") }
            content += Array(String(Character(scalar)).utf8)
        default: throw malformed("an unknown escape")
        }
    }

    private mutating func hexadecimal() throws(JobProtocolError) -> UInt32 {
        guard position + 4 <= bytes.count else { throw malformed("a string without end") }
        var code: UInt32 = 0
        for byte in bytes[position..<position + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw malformed("no hexadecimal digit")
            }
            code = code << 4 | UInt32(digit)
        }
        position += 4
        return code
    }

    /// Parses a number (RFC 8259, section 6): no leading zeros, no plus sign, digits on both sides of the point.
    private mutating func number() throws(JobProtocolError) -> JSON {
        let start = position
        func isDigit(_ index: Int) -> Bool { index < bytes.count && 0x30...0x39 ~= bytes[index] }
        func skipDigits(_ index: inout Int) { while isDigit(index) { index += 1 } }
        var end = position
        if end < bytes.count, bytes[end] == UInt8(ascii: "-") { end += 1 }
        guard isDigit(end) else { throw malformed("no value") }
        if bytes[end] == UInt8(ascii: "0"), isDigit(end + 1) { throw malformed("a number with a leading zero") }
        skipDigits(&end)
        var isInteger = true
        if end < bytes.count, bytes[end] == UInt8(ascii: ".") {
            isInteger = false
            end += 1
            guard isDigit(end) else { throw malformed("a number without digits after the point") }
            skipDigits(&end)
        }
        if end < bytes.count, bytes[end] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            end += 1
            if end < bytes.count, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(bytes[end]) { end += 1 }
            guard isDigit(end) else { throw malformed("a number without an exponent") }
            skipDigits(&end)
        }
        position = end
        let text = String(decoding: bytes[start..<end], as: UTF8.self)
        if isInteger, let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else { throw malformed("a number out of range") }
        return .number(number)
    }
}
