/// A writer of a record's elements: numbers in as few bytes as they need, runs and sections.
struct RecordWriter {
    private(set) var bytes: [UInt8] = []

    mutating func byte(_ value: UInt8) { bytes.append(value) }

    /// Writes a number in LEB128: seven bits per byte, the lowest first. The top bit states that another byte follows.
    mutating func number(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func number(_ value: Int) { number(UInt64(max(0, value))) }

    /// Writes a number of either sign. Small ones take few bytes.
    mutating func difference(_ value: Int) {
        number(UInt64(bitPattern: Int64((value << 1) ^ (value >> (Int.bitWidth - 1)))))
    }

    mutating func text(_ value: String) {
        number(value.utf8.count)
        raw(value)
    }

    /// Writes a text without its size.
    mutating func raw(_ value: String) { bytes += value.utf8 }

    mutating func append(_ other: RecordWriter) { bytes += other.bytes }

    /// Writes ascending numbers as runs of consecutive ones: for each run the gap before it and its length.
    mutating func runs(_ values: some Sequence<Int64>) {
        var runs: [(start: Int64, length: Int)] = []
        for value in values {
            if let last = runs.last, last.start + Int64(last.length) == value {
                runs[runs.count - 1].length += 1
            } else {
                runs.append((value, 1))
            }
        }
        number(runs.count)
        var end: Int64 = 0
        for run in runs {
            number(UInt64(run.start - end))
            number(run.length)
            end = run.start + Int64(run.length)
        }
    }

    /// Writes bytes with their size. They are compressed if that makes them smaller.
    mutating func section(_ content: [UInt8], _ zstd: Zstd) throws {
        number(content.count)
        let compressed = content.count < 32 ? content : try zstd.compress(content)
        let kept = compressed.count < content.count ? compressed : content
        number(kept.count)
        bytes += kept
    }
}

/// A reader of the output of `RecordWriter`. For invalid bytes it throws `Damaged` or returns a wrong value. It never traps, and its memory is
/// limited by the input's size.
struct RecordReader {
    struct Damaged: Error {}

    private let bytes: ArraySlice<UInt8>
    private(set) var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// The largest expanded section, in bytes: 200,000 tests with the longest details that a record can hold.
    static let maximumSectionBytes = 8 << 20

    mutating func byte() throws -> UInt8 {
        guard position < bytes.endIndex else { throw Damaged() }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func number(limit: UInt64 = UInt64(Int64.max) / 4) throws -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            let next = try byte()
            value |= UInt64(next & 0x7f) << shift
            if next & 0x80 == 0 {
                guard value <= limit else { throw Damaged() }
                return value
            }
        }
        throw Damaged()
    }

    mutating func count(limit: Int) throws -> Int { Int(try number(limit: UInt64(max(0, limit)))) }

    mutating func difference() throws -> Int {
        let value = try number()
        return Int(value >> 1) ^ -Int(value & 1)
    }

    mutating func text() throws -> String {
        String(decoding: try take(try count(limit: bytes.endIndex - position)), as: UTF8.self)
    }

    /// Reads a text whose size is stored plus one; 0 means `nil`.
    mutating func optionalText() throws -> String? {
        let size = try count(limit: bytes.endIndex - position)
        return size == 0 ? nil : String(decoding: try take(size - 1), as: UTF8.self)
    }

    /// Reads ascending runs.
    /// - Parameter limit: The most numbers that all runs together may have.
    mutating func runs(limit: Int) throws -> [Range<Int64>] {
        let number = try count(limit: bytes.endIndex - position)
        var (runs, end, total): ([Range<Int64>], Int64, Int) = ([], 0, 0)
        runs.reserveCapacity(number)
        for _ in 0..<number {
            let start = end + Int64(try self.number(limit: 1 << 60))
            let length = try count(limit: limit - total)
            guard length > 0, start < 1 << 60, runs.isEmpty || start > end else { throw Damaged() }
            end = start + Int64(length)
            total += length
            runs.append(start..<end)
        }
        return runs
    }

    private mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
        guard count <= bytes.endIndex - position else { throw Damaged() }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// Reads a section without expanding it.
    mutating func section() throws -> (size: Int, kept: ArraySlice<UInt8>) {
        let size = try count(limit: Self.maximumSectionBytes)
        return (size, try take(try count(limit: size)))
    }

    static func expanded(_ section: (size: Int, kept: ArraySlice<UInt8>), _ zstd: Zstd) throws -> ArraySlice<UInt8> {
        if section.kept.count == section.size { return section.kept }
        guard let content = zstd.expand(section.kept, to: section.size) else { throw Damaged() }
        return content[...]
    }

    var isAtEnd: Bool { position == bytes.endIndex }
}
