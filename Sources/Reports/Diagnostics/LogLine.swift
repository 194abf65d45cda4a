import Glibc

/// A line of a log, without its end. It is valid only during the call that receives it.
package struct LogLine {
    let bytes: UnsafeRawBufferPointer

    /// The number of bytes, at most 64 KiB. The rest of a longer line was skipped.
    package var count: Int { bytes.count }

    /// The text without terminal sequences. Bytes that are not UTF-8 become U+FFFD.
    package var text: String { withPlainBytes { String(decoding: $0, as: UTF8.self) } }

    /// Calls `body` with the line's bytes without terminal sequences. Most lines have none and are not copied.
    func withPlainBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard let base = bytes.baseAddress, memchr(base, 0x1B, bytes.count) != nil else { return body(bytes) }
        return Self.withoutTerminalSequences(bytes).withUnsafeBytes(body)
    }

    /// Returns whether the line, as printed, begins with the text.
    package func begins(with text: StaticString) -> Bool {
        guard let base = bytes.baseAddress, bytes.count >= text.utf8CodeUnitCount else { return false }
        return memcmp(base, text.utf8Start, text.utf8CodeUnitCount) == 0
    }

    /// Returns whether the line, as printed, contains one of the needles.
    func contains(_ needles: Needles) -> Bool { needles.areIn(bytes) }

    /// Returns the bytes without the control sequences of ECMA-48 (colors: `ESC [ … m`), operating system commands (`ESC ] … BEL`, links) and other
    /// escapes of two bytes.
    private static func withoutTerminalSequences(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            guard bytes[index] == 0x1B else {
                plain.append(bytes[index])
                index += 1
                continue
            }
            index += 1
            guard index < bytes.count else { break }
            switch bytes[index] {
            case UInt8(ascii: "["):
                index += 1
                // A sequence consists of parameter and intermediate bytes and one final byte. Any other byte ends an invalid sequence.
                while index < bytes.count, (0x20...0x3F).contains(bytes[index]) { index += 1 }
                if index < bytes.count, (0x40...0x7E).contains(bytes[index]) { index += 1 }
            case UInt8(ascii: "]"):
                index += 1
                while index < bytes.count, bytes[index] != 0x07, bytes[index] != 0x1B { index += 1 }
                if index < bytes.count, bytes[index] == 0x07 {
                    index += 1
                } else if index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "\\") {
                    index += 2
                }
            default: index += 1
            }
        }
        return plain
    }
}
