/// A body of `application/x-www-form-urlencoded` (URL Standard, section 5.1).
enum FormBody {
    /// The first value of a field, decoded; nothing without the field, and where an escape is broken.
    static func field(_ name: String, in body: [UInt8]) -> [UInt8]? {
        for pair in body.split(separator: UInt8(ascii: "&")) where pair.starts(with: (name + "=").utf8) {
            return decode(pair.dropFirst(name.utf8.count + 1))
        }
        return nil
    }

    private static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            index += 1
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard index + 1 < text.endIndex, let high = digit(text[index]), let low = digit(text[index + 1]) else {
                    return nil
                }
                bytes.append(high << 4 | low)
                index += 2
            default: bytes.append(byte)
            }
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
