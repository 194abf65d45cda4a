import Basics
import Encodings
import Execution

/// Finds text in a log of any size, a piece at a time. Lines are compared as a terminal shows them, without its sequences.
struct LogSearch: Sendable {
    /// The longest text to search for, in bytes.
    static let maximumBytes = 200
    /// The most lines in one answer.
    static let maximumHits = 100
    /// The most bytes of a log that are read for one answer, which takes some 0.1 s.
    static let maximumRead: Int64 = 64 << 20
    /// The most bytes of a line that an answer shows.
    static let maximumText = 400
    private static let pieceBytes = 1 << 20

    struct Hit: Sendable, Equatable {
        /// The number of the line.
        var line: Int
        /// The line, or the part of a long line around the text.
        var text: String
    }

    struct Answer: Sendable, Equatable {
        var hits: [Hit] = []
        /// The number of the line to go on from; `nil` at the end of the log.
        var next: Int?
    }

    /// Texts that mark a line as an error where no report or reader found one.
    static let errorWords = [
        "error:", "Error:", "ERROR", "error[", "fatal:", "FAILED", "FAIL:", "not ok ", "panicked at",
        "Segmentation fault",
        "Traceback (most recent call last)", ": *** ", "✘", "✗",
    ]

    private let reader: LogWindow.Reader
    /// The texts to find, folded unless `isExact`.
    private let words: [ByteSearch]
    private let isExact: Bool

    /// - Parameter text: The text to find. Letters of ASCII match in both cases.
    init(_ text: String, in reader: LogWindow.Reader) {
        self.reader = reader
        isExact = false
        words = [ByteSearch(Self.folded(Array(text.utf8)))]
    }

    /// Finds lines with one of `errorWords`.
    init(errorsIn reader: LogWindow.Reader) {
        self.reader = reader
        isExact = true
        words = Self.errorWords.map { ByteSearch($0.utf8) }
    }

    /// Opens the index of a log. Blocks.
    static func reader(of log: LogServer.Log, in state: String) throws -> LogWindow.Reader {
        LogWindow.Reader(
            log: log, index: try LogIndex(directory: Directory(opening: state), path: log.directory + "/log.index"))
    }

    /// Finds lines from a line on. Blocks.
    /// - Parameter limit: The most lines of the answer.
    func find(from line: Int, limit: Int = LogSearch.maximumHits) throws -> Answer {
        guard var place = try reader.offset(ofLine: max(1, line)) else { return Answer() }
        let last = place + Self.maximumRead
        var (answer, number) = (Answer(), max(1, line))
        while true {
            let piece = try piece(at: place)
            if piece.isEmpty { return answer }
            let found = hits(in: piece, from: number, limit: limit - answer.hits.count + 1)
            answer.hits += found
            if answer.hits.count > limit {
                answer.next = answer.hits.removeLast().line
                return answer
            }
            number += piece.count { $0 == UInt8(ascii: "\n") }
            place += Int64(piece.count)
            if place >= last, place < reader.log.size {
                answer.next = number
                return answer
            }
        }
    }

    /// Returns the last line with the text before a line; `nil` if there is none within `maximumRead` bytes. Blocks.
    func last(before line: Int) throws -> Hit? {
        var end = try reader.offset(ofLine: line) ?? reader.log.size
        let first = max(0, end - Self.maximumRead)
        while end > first {
            let from = max(first, end - Int64(Self.pieceBytes))
            var bytes = try reader.log.file.read(at: from, count: Int(end - from))
            var start = from
            if from > 0, let feed = bytes.firstIndex(of: UInt8(ascii: "\n")), feed + 1 < bytes.count {
                bytes.removeFirst(feed + 1)
                start += Int64(feed) + 1
            }
            if let hit = hits(in: bytes, from: try reader.line(at: start), limit: .max).last { return hit }
            end = start == end ? from : start
        }
        return nil
    }

    /// Reads a piece that ends with a line, unless the line is longer than the piece.
    private func piece(at place: Int64) throws -> [UInt8] {
        var bytes = try reader.log.file.read(at: place, count: Self.pieceBytes)
        if place + Int64(bytes.count) < reader.log.size, let feed = bytes.lastIndex(of: UInt8(ascii: "\n")) {
            bytes.removeLast(bytes.count - feed - 1)
        }
        return bytes
    }

    private func hits(in piece: [UInt8], from firstLine: Int, limit: Int) -> [Hit] {
        let plain = Self.withoutSequences(piece)
        let text = isExact ? plain : Self.folded(plain)
        var (hits, line, counted, place): ([Hit], Int, Int, Int) = ([], firstLine, 0, 0)
        // The next place of each text, so that none is searched for again before it was passed.
        var next: [Int?] = words.map { word in text.withUnsafeBytes { word.first(in: $0) } }
        while hits.count < limit, let found = next.compactMap(\.self).min() {
            line += text[counted..<found].count { $0 == UInt8(ascii: "\n") }
            counted = found
            let start = (text[..<found].lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
            let end = text[found...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count
            hits.append(Hit(line: line, text: Self.shown(plain[start..<end], found: found)))
            place = end
            for index in words.indices where next[index].map({ $0 < place }) == true {
                next[index] = text.withUnsafeBytes { words[index].first(in: $0, from: place) }
            }
        }
        return hits
    }

    private static func shown(_ line: ArraySlice<UInt8>, found: Int) -> String {
        let start = line.count <= maximumText ? line.startIndex : max(line.startIndex, found - maximumText / 4)
        let part = line[start..<min(line.endIndex, start + maximumText)]
        let text = String(decoding: part, as: UTF8.self)
        return (start > line.startIndex ? "…" : "") + text + (part.endIndex < line.endIndex ? "…" : "")
    }

    /// Returns the bytes with the letters of ASCII in lower case.
    private static func folded(_ bytes: [UInt8]) -> [UInt8] {
        bytes.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }
    }

    /// Returns the bytes without terminal sequences, which never contain the end of a line. A carriage return stays: what
    /// was overwritten is found, too.
    private static func withoutSequences(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(0x1B) else { return bytes }
        var plain: [UInt8] = []
        plain.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            guard byte == 0x1B else {
                plain.append(byte)
                continue
            }
            guard index < bytes.count, bytes[index] != 0x0A else { continue }
            let kind = bytes[index]
            index += 1
            if kind == UInt8(ascii: "[") {
                while index < bytes.count, (0x20...0x3F).contains(bytes[index]) { index += 1 }
                if index < bytes.count, (0x40...0x7E).contains(bytes[index]) { index += 1 }
            } else if kind == UInt8(ascii: "]") {
                let start = index
                while index < bytes.count, ![0x07, 0x1B, 0x0A].contains(bytes[index]) { index += 1 }
                if index < bytes.count, bytes[index] == 0x07 {
                    index += 1
                } else if index >= bytes.count || bytes[index] == 0x0A {
                    // A string without an end is text.
                    index = start
                }
            }
        }
        return plain
    }
}
