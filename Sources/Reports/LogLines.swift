import Glibc

/// Cuts a log that comes in pieces into lines, in linear time and without making a string of any that is not wanted.
///
/// At most `maximumLineBytes` are held between two pieces, whatever a job prints.
package struct LogLines: Sendable {
    /// What is looked at of a line; the rest is passed over. Diagnostics and test results are far shorter.
    static let maximumLineBytes = 64 * 1024

    /// The beginning of a line whose end is still to come.
    private var begun: [UInt8] = []

    package init() {}

    /// Calls `body` for each line that ends in this piece. Line feed and carriage return both end one: with the latter
    /// progress is drawn again. Lines without a byte are passed over.
    package mutating func take(_ piece: UnsafeRawBufferPointer, _ body: (LogLine) -> Void) {
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

    /// The last line may have no end.
    package mutating func finish(_ body: (LogLine) -> Void) { end(with: nil, count: 0, body) }

    /// Every line of a log that is in memory.
    static func forEach(in log: [UInt8], _ body: (LogLine) -> Void) {
        var lines = LogLines()
        log.withUnsafeBytes { lines.take($0, body) }
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
