import Glibc

/// Goes through a log's lines in linear time, without making a string of any that is not wanted.
enum LogScan {
    /// What is looked at of a line; the rest is passed over. Diagnostics and test results are far shorter.
    static let maximumLineBytes = 64 * 1024

    /// Calls `body` for each line, ended by a line feed, a carriage return or both, and hands over those that contain one
    /// of the needles, without color and other terminal sequences.
    /// - Parameter needles: Nothing: every line.
    static func forEachLine(in log: [UInt8], containing needles: [StaticString]? = nil, _ body: (Line) -> Void) {
        log.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            var start = 0
            var number = 0
            while start < buffer.count {
                var end = buffer.count
                if let found = memchr(base + start, 0x0A, buffer.count - start) { end = UnsafeRawPointer(found) - base }
                number += 1
                // A carriage return within a line draws progress anew: what follows is a line of its own.
                var from = start
                while from < end {
                    var to = end
                    if let found = memchr(base + from, 0x0D, end - from) { to = UnsafeRawPointer(found) - base }
                    let line = Line(
                        number: number,
                        buffer: UnsafeRawBufferPointer(start: base + from, count: min(to - from, maximumLineBytes)))
                    if needles.map(line.contains) ?? true { body(line) }
                    from = to + 1
                }
                start = end + 1
            }
        }
    }

    /// A line of a log; valid only while `body` runs.
    struct Line {
        /// Counts from 1.
        var number: Int
        fileprivate var buffer: UnsafeRawBufferPointer

        /// Without terminal sequences, bytes that are no UTF-8 as U+FFFD.
        var text: String { String(decoding: LogScan.withoutTerminalSequences(buffer), as: UTF8.self) }

        /// Whether the line, as printed, has one of the needles.
        func contains(_ needles: [StaticString]) -> Bool { needles.contains { buffer.firstOffset(of: $0) != nil } }
    }

    /// Drops what ECMA-48 calls control sequences (colors: `ESC [ … m`), operating system commands (`ESC ] … BEL`, links)
    /// and other escapes of two bytes.
    fileprivate static func withoutTerminalSequences(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        guard let base = bytes.baseAddress, memchr(base, 0x1B, bytes.count) != nil else { return Array(bytes) }
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
