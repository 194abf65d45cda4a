import Model

/// The parts of JSON text that are the same in every answer.
enum JSONText {
    /// Writes a number with at most three decimals. NaN and infinities, which JSON cannot represent, are written as null.
    static func write(_ number: Double, to bytes: inout [UInt8]) {
        bytes += (number.isFinite ? decimal(number) : "null").utf8
    }

    private static func decimal(_ value: Double) -> String {
        let milliseconds = (value * 1000).rounded()
        guard abs(milliseconds) < 9e15 else { return String(value) }
        let thousandths = Int64(clamping: milliseconds)
        if thousandths % 1000 == 0 { return String(thousandths / 1000) }
        return String(Double(thousandths) / 1000)
    }

    /// Writes a string. Characters outside ASCII are written literally, except invisible ones, so that a terminal shows an answer in its order. `<`,
    /// `>` and `&` are escaped, so that an answer pasted into a page stays text.
    static func write(_ string: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        defer { bytes.append(UInt8(ascii: "\"")) }
        // Most strings are names, numbers and times, which are copied as they are.
        let isCopied = string.utf8.withContiguousStorageIfAvailable { text in
            guard text.allSatisfy(isPlain) else { return false }
            bytes.append(contentsOf: text)
            return true
        }
        if isCopied == true { return }
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
    }

    /// Whether a byte is a printable ASCII character that is written as it is.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"): false
        default: (32..<127).contains(byte)
        }
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
