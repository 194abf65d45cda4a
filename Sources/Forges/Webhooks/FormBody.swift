import Basics
import Encodings

/// A body of `application/x-www-form-urlencoded` (URL Standard, section 5.1).
enum FormBody {
    /// Returns the first value of a field, decoded. `nil` if there is no such field, or if its value has a broken escape.
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
                guard index + 1 < text.endIndex,
                    let escaped = Hexadecimal.decode(String(decoding: text[index...index + 1], as: UTF8.self))
                else { return nil }
                bytes += escaped
                index += 2
            default: bytes.append(byte)
            }
        }
        return bytes
    }
}
