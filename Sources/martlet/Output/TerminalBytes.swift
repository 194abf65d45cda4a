/// Makes a job's output safe for the user's terminal.
///
/// A log can attack its readers: with escape sequences that write the clipboard or the title, or with text that is drawn over other text or shown in
/// another order than it is read (CVE-2021-42574). Colors stay, or are left out; everything else is shown literally.
///
/// The output is one stream that arrives in pieces. An incomplete sequence at the end of a piece waits for the next piece.
struct TerminalBytes {
    /// Whether color sequences stay. Otherwise they are left out.
    let keepsColors: Bool
    /// The end of the last piece: a carriage return, or the beginning of a character or of a color.
    private var held: [UInt8] = []

    /// The longest color sequence that is kept, in bytes: `ESC [`, 31 digits and separators, `m`.
    private static let longestColor = 34

    /// Adds a piece and returns the bytes that can be shown now.
    mutating func add(_ piece: [UInt8]) -> [UInt8] {
        let bytes = held + piece
        let count = Self.unfinishedCount(bytes)
        held = Array(bytes.suffix(count))
        return safe(Array(bytes.dropLast(count)))
    }

    /// Returns the remaining bytes at the end of the stream.
    mutating func end() -> [UInt8] {
        defer { held = [] }
        return safe(held)
    }

    /// Returns how many bytes at the end must be read together with the following ones.
    private static func unfinishedCount(_ bytes: [UInt8]) -> Int {
        guard let last = bytes.last else { return 0 }
        if last == 0x0D { return 1 }
        for count in 1...min(3, bytes.count) {
            let byte = bytes[bytes.count - count]
            if byte & 0xC0 == 0x80 { continue }
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            if length > count { return count }
            break
        }
        guard let escape = bytes.suffix(longestColor - 1).lastIndex(of: 0x1B) else { return 0 }
        let begun = bytes[(escape + 1)...]
        let isColor = begun.isEmpty || begun.first == UInt8(ascii: "[") && begun.dropFirst().allSatisfy(isColorByte)
        return isColor ? begun.count + 1 : 0
    }

    private static func isColorByte(_ byte: UInt8) -> Bool { (0x30...0x3B).contains(byte) }

    init(keepsColors: Bool) { self.keepsColors = keepsColors }

    /// Replaces unsafe bytes with as many safe ones. Colors (`ESC [ … m`) stay or are left out. A carriage return without a line feed becomes a line
    /// feed. The following become `?`: the ESC of other sequences, C0 controls except tab and LF, DEL, C1 controls (U+0080 to U+009F), bidirectional
    /// controls, and line and paragraph separators.
    private func safe(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let count = Self.unsafeCount(bytes[index...])
            if count > 0 {
                result += repeatElement(UInt8(ascii: "?"), count: count)
                index += count
            } else if bytes[index] == 0x1B, !keepsColors {
                // An ESC that is safe begins a color, which ends with the next `m`.
                index = (bytes[index...].firstIndex(of: UInt8(ascii: "m")) ?? index) + 1
            } else {
                let isReturn = bytes[index] == 0x0D && (index + 1 == bytes.count || bytes[index + 1] != 0x0A)
                result.append(isReturn ? 0x0A : bytes[index])
                index += 1
            }
        }
        return result
    }

    /// Returns how many bytes at the beginning must be replaced.
    private static func unsafeCount(_ bytes: ArraySlice<UInt8>) -> Int {
        let next = Array(bytes.prefix(3))
        switch next[0] {
        case 0x1B: return isColor(bytes) ? 0 : 1
        case 0x09, 0x0A, 0x0D: return 0
        case 0..<0x20, 0x7F: return 1
        case 0xC2 where next.count > 1 && (0x80...0x9F).contains(next[1]): return 2
        // U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069.
        case 0xD8 where next.count > 1 && next[1] == 0x9C: return 2
        case 0xE2 where next.count == 3 && next[1] == 0x80 && [0x8E, 0x8F].contains(next[2]): return 3
        case 0xE2 where next.count == 3 && next[1] == 0x80 && (0xA8...0xAE).contains(next[2]): return 3
        case 0xE2 where next.count == 3 && next[1] == 0x81 && (0xA6...0xA9).contains(next[2]): return 3
        default: return 0
        }
    }

    private static func isColor(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.dropFirst().first == UInt8(ascii: "[") else { return false }
        for byte in bytes.dropFirst(2).prefix(32) {
            if byte == UInt8(ascii: "m") { return true }
            guard isColorByte(byte) else { return false }
        }
        return false
    }
}
