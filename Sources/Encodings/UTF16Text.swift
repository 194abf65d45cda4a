/// A recognizer and converter of texts in UTF-16, which tools on Windows write.
package enum UTF16Text {
    /// Returns the text in UTF-8; `nil` for bytes that are not UTF-16 of XML or JSON. An incomplete unit at the end is dropped. An unpaired surrogate
    /// becomes U+FFFD.
    package static func utf8(_ bytes: [UInt8]) -> [UInt8]? {
        let start = bytes.prefix(2)
        if start == [0xFE, 0xFF] || start.count == 2 && start[0] == 0 && start[1] != 0 { return utf8(bytes, high: 0) }
        if start == [0xFF, 0xFE] || start.count == 2 && start[0] != 0 && start[1] == 0 { return utf8(bytes, high: 1) }
        return nil
    }

    private static func utf8(_ bytes: [UInt8], high: Int) -> [UInt8] {
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
}
