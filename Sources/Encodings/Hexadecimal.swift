/// Bytes as pairs of hexadecimal digits.
package enum Hexadecimal {
    /// Returns two digits for each byte.
    package static func encode(_ bytes: some Sequence<UInt8>, isUppercase: Bool = false) -> String {
        String(decoding: bytes.flatMap { digits(of: $0, isUppercase: isUppercase) }, as: UTF8.self)
    }

    /// Returns the two digits of a byte.
    package static func digits(of byte: UInt8, isUppercase: Bool = false) -> [UInt8] {
        [byte >> 4, byte & 15].map { value in
            value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: isUppercase ? "A" : "a") + value - 10
        }
    }

    /// Decodes digits of either case.
    /// - Returns: `nil` if a character is not a hexadecimal digit, or the number of digits is odd.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var high: UInt8?
        for character in text.utf8 {
            guard let digit = digit(character) else { return nil }
            if let left = high {
                bytes.append(left << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return high == nil ? bytes : nil
    }

    /// Returns the value of one digit of either case; `nil` if it is not a hexadecimal digit.
    package static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
