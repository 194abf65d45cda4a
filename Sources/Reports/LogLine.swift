import Glibc

/// A line of a log, without its end. Valid only in the call that it is given to.
package struct LogLine {
    let bytes: UnsafeRawBufferPointer

    /// In bytes, at most 64 KiB; what a longer line has after them was passed over.
    package var count: Int { bytes.count }

    /// Without terminal sequences, bytes that are no UTF-8 as U+FFFD.
    package var text: String { withPlainBytes { String(decoding: $0, as: UTF8.self) } }

    /// Calls `body` with the line's bytes without terminal sequences, which most lines have none of.
    func withPlainBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard let base = bytes.baseAddress, memchr(base, 0x1B, bytes.count) != nil else { return body(bytes) }
        return Self.withoutTerminalSequences(bytes).withUnsafeBytes(body)
    }

    /// Whether the line, as printed, begins so.
    package func begins(with text: StaticString) -> Bool {
        guard let base = bytes.baseAddress, bytes.count >= text.utf8CodeUnitCount else { return false }
        return memcmp(base, text.utf8Start, text.utf8CodeUnitCount) == 0
    }

    /// Whether the line, as printed, has one of the needles.
    func contains(_ needles: Needles) -> Bool { needles.areIn(bytes) }

    /// Drops what ECMA-48 calls control sequences (colors: `ESC [ … m`), operating system commands (`ESC ] … BEL`, links)
    /// and other escapes of two bytes.
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
                // Parameter and intermediate bytes, then one final byte; anything else ends a broken sequence.
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
