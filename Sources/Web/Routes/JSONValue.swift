import Model

/// A JSON value whose members are written in the order in which they were added, so that answers match their documentation.
enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// NaN and infinities, which JSON cannot represent, are written as null.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    struct Member: Sendable, Hashable {
        let key: String
        let value: JSONValue
    }

    /// The JSON text (RFC 8259). Characters outside ASCII are written literally, except invisible ones, so that a terminal shows an answer in its
    /// order. `<`, `>` and `&` are escaped, so that an answer pasted into a page stays text.
    var text: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += String(value).utf8
        case .number(let value): bytes += (value.isFinite ? Self.decimal(value) : "null").utf8
        case .string(let value): Self.write(value, to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(member.key, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func decimal(_ value: Double) -> String {
        let milliseconds = (value * 1000).rounded()
        guard abs(milliseconds) < 9e15 else { return String(value) }
        let thousandths = Int64(clamping: milliseconds)
        if thousandths % 1000 == 0 { return String(thousandths / 1000) }
        return String(Double(thousandths) / 1000)
    }

    private static func write(_ string: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        if string.unicodeScalars.contains(where: { !$0.isASCII && $0.isHiddenInText }) {
            for scalar in string.unicodeScalars {
                if !scalar.isASCII, scalar.isHiddenInText {
                    for unit in Unicode.UTF16.encode(scalar) ?? .init() { escape(unit, to: &bytes) }
                } else {
                    append(String(scalar).utf8, to: &bytes)
                }
            }
        } else {
            append(string.utf8, to: &bytes)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes an escape such as `\u202e`.
    private static func escape(_ unit: UInt16, to bytes: inout [UInt8]) {
        let digits = Array("0123456789abcdef".utf8)
        bytes += "\\u".utf8
        for shift in [12, 8, 4, 0] { bytes.append(digits[Int(unit >> UInt16(shift)) & 15]) }
    }

    private static func append(_ text: String.UTF8View, to bytes: inout [UInt8]) {
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""): bytes += "\\\"".utf8
            case UInt8(ascii: "\\"): bytes += "\\\\".utf8
            case UInt8(ascii: "\n"): bytes += "\\n".utf8
            case UInt8(ascii: "\r"): bytes += "\\r".utf8
            case UInt8(ascii: "\t"): bytes += "\\t".utf8
            case 0..<32, UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"), 127: escape(UInt16(byte), to: &bytes)
            default: bytes.append(byte)
            }
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    init(stringLiteral value: String) { self = .string(value) }
    init(integerLiteral value: Int64) { self = .integer(value) }
    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member(key: $0.0, value: $0.1) })
    }
    init(nilLiteral: ()) { self = .null }

    init(_ value: String?) { self = value.map(JSONValue.string) ?? .null }
    init(_ value: Int?) { self = value.map { .integer(Int64($0)) } ?? .null }
    init(_ value: Bool) { self = .bool(value) }
    init<Described: CustomStringConvertible>(describing value: Described?) {
        self = value.map { .string($0.description) } ?? .null
    }
}
