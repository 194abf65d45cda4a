import Glibc

/// A text that is looked for in every line of a log.
///
/// Horspool's search ("Practical fast searching in strings", 1980) looks at one byte in as many as the text is long, where
/// almost no line has it. Texts of this program's own, so that no log makes it slow: at worst each byte of a line is
/// compared once for each byte of the text, and the longest has some 40.
struct Needle: Sendable, ExpressibleByStringLiteral {
    private let text: StaticString
    /// By the byte below the text's last one: how far the text may be moved on.
    private let shifts: [UInt8]

    init(stringLiteral text: StaticString) {
        self.text = text
        let count = text.utf8CodeUnitCount
        precondition((1...255).contains(count), "a needle has 1 to 255 bytes")
        var shifts = [UInt8](repeating: UInt8(count), count: 256)
        for index in 0..<(count - 1) { shifts[Int(text.utf8Start[index])] = UInt8(count - 1 - index) }
        self.shifts = shifts
    }

    func isIn(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let count = text.utf8CodeUnitCount
        guard let base = bytes.baseAddress, bytes.count >= count else { return false }
        return shifts.withUnsafeBufferPointer { shifts in
            let last = text.utf8Start[count - 1]
            var place = count - 1
            while place < bytes.count {
                let byte = bytes[place]
                if byte == last, memcmp(base + (place - count + 1), text.utf8Start, count) == 0 { return true }
                place += Int(shifts[Int(byte)])
            }
            return false
        }
    }
}
