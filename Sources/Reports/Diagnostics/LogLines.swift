import Glibc

/// A splitter of a log that arrives in pieces into lines. It takes linear time and makes no strings of lines.
///
/// Between two pieces it holds at most `maximumLineBytes`, regardless of the log.
package struct LogLines: Sendable {
    /// The most bytes of a line that are read; the rest is skipped. Diagnostics and test results are far shorter.
    static let maximumLineBytes = 64 * 1024

    /// The beginning of an incomplete line.
    private var begun: [UInt8] = []

    package init() {}

    /// Calls `body` for each line that ends in this piece. A line feed and a carriage return both end a line, since tools redraw progress with the
    /// latter. Empty lines are skipped.
    package mutating func consume(_ piece: UnsafeRawBufferPointer, _ body: (LogLine) -> Void) {
        guard let base = piece.baseAddress else { return }
        var start = 0
        while start < piece.count {
            guard let found = memchr(base + start, 0x0A, piece.count - start) else {
                return split(base + start, count: piece.count - start, isEnded: false, body)
            }
            let end = UnsafeRawPointer(found) - base
            split(base + start, count: end - start, isEnded: true, body)
            start = end + 1
        }
    }

    /// Calls `body` for the last line, if it has no end.
    package mutating func finish(_ body: (LogLine) -> Void) { end(with: nil, count: 0, body) }

    /// Calls `body` for every line of a log that is in memory.
    static func forEach(in log: [UInt8], _ body: (LogLine) -> Void) {
        var lines = LogLines()
        log.withUnsafeBytes { lines.consume($0, body) }
        lines.finish(body)
    }

    private mutating func split(
        _ base: UnsafeRawPointer, count: Int, isEnded: Bool, _ body: (LogLine) -> Void
    ) {
        var start = 0
        while let found = memchr(base + start, 0x0D, count - start) {
            let place = UnsafeRawPointer(found) - base
            end(with: base + start, count: place - start, body)
            start = place + 1
        }
        if isEnded { return end(with: base + start, count: count - start, body) }
        let room = Self.maximumLineBytes - begun.count
        begun.append(contentsOf: UnsafeRawBufferPointer(start: base + start, count: min(room, count - start)))
    }

    private mutating func end(with rest: UnsafeRawPointer?, count: Int, _ body: (LogLine) -> Void) {
        guard !begun.isEmpty else {
            if count > 0 {
                body(LogLine(bytes: UnsafeRawBufferPointer(start: rest, count: min(count, Self.maximumLineBytes))))
            }
            return
        }
        let room = Self.maximumLineBytes - begun.count
        begun.append(contentsOf: UnsafeRawBufferPointer(start: rest, count: min(room, count)))
        begun.withUnsafeBytes { body(LogLine(bytes: $0)) }
        begun.removeAll(keepingCapacity: true)
    }
}
