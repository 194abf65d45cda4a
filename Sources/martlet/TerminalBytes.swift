/// What a job printed, for somebody else's terminal.
///
/// A log can be an attack on who looks at it: escapes that write a clipboard or a title, text that is drawn over other text
/// or stands in another order than it is read (CVE-2021-42574). Colors stay, all else is shown for what it is.
enum TerminalBytes {
    /// As many bytes as before. Colors (`ESC [ … m`) stay; every other escape's ESC, other C0 controls but tab and LF, DEL,
    /// C1 controls (U+0080 to U+009F) and bidirectional controls become `?`; a carriage return that no line feed follows
    /// becomes a line feed.
    static func safe(_ bytes: [UInt8]) -> [UInt8] {
        var result = bytes
        var index = 0
        while index < bytes.count {
            let count = unsafeCount(bytes[index...])
            if bytes[index] == 0x0D {
                if index + 1 == bytes.count || bytes[index + 1] != 0x0A { result[index] = 0x0A }
            } else {
                for place in index..<index + count { result[place] = UInt8(ascii: "?") }
            }
            index += max(1, count)
        }
        return result
    }

    /// How many bytes at the beginning are to be replaced.
    private static func unsafeCount(_ bytes: ArraySlice<UInt8>) -> Int {
        let next = Array(bytes.prefix(3))
        switch next[0] {
        case 0x1B: return isColor(bytes) ? 0 : 1
        case 0x09, 0x0A, 0x0D: return 0
        case 0..<0x20, 0x7F: return 1
        case 0xC2 where next.count > 1 && (0x80...0x9F).contains(next[1]): return 2
        // U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069.
        case 0xD8 where next.count > 1 && next[1] == 0x9C: return 2
        case 0xE2 where next.count == 3 && next[1] == 0x80 && [0x8E, 0x8F].contains(next[2]): return 3
        case 0xE2 where next.count == 3 && next[1] == 0x80 && (0xAA...0xAE).contains(next[2]): return 3
        case 0xE2 where next.count == 3 && next[1] == 0x81 && (0xA6...0xA9).contains(next[2]): return 3
        default: return 0
        }
    }

    private static func isColor(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.dropFirst().first == UInt8(ascii: "[") else { return false }
        for byte in bytes.dropFirst(2).prefix(32) {
            if byte == UInt8(ascii: "m") { return true }
            guard (0x30...0x3B).contains(byte) else { return false }
        }
        return false
    }
}
