import Glibc

/// Texts that are searched for in every line of a log.
///
/// Each text is represented by two neighboring bytes that are rare in logs, such as `r:` of `error:`. A line is compared with all pairs, 32 positions
/// at a time. If a pair matches, the whole text is compared. No log makes this slow: a position costs at most one comparison per text. A line of 100
/// bytes takes about 60 ns for ten texts.
///
/// Lines of at most 32 bytes are searched by shift-and (Baeza-Yates and Gonnet, "A new approach to text searching", 1992). It uses a bit for each of
/// a text's first bytes, and three operations for each byte of the line.
struct Needles: Sendable, ExpressibleByArrayLiteral {
    /// The bytes at consecutive positions of a line.
    private typealias Block = SIMD32<UInt8>
    /// A mask with a byte of 0xFF for each position of a block that has a pair, in words of eight positions.
    private typealias Places = SIMD4<UInt64>

    private struct Text: Sendable {
        let text: StaticString
        /// The position of the pair in the text.
        let offset: Int
        let first: Block
        let second: Block

        /// Returns the positions from `base` on that have the pair.
        @inline(__always) func places(at base: UnsafeRawPointer) -> Places {
            let here = base.loadUnaligned(as: Block.self) .== first
            return unsafeBitCast(here .& ((base + 1).loadUnaligned(as: Block.self) .== second), to: Places.self)
        }
    }

    /// The texts of at least two bytes. The others are in `bytes`.
    private let texts: [Text]
    private let bytes: [UInt8]
    private let short: ShiftAnd

    /// - Parameter texts: At most 32, none of them empty.
    init(arrayLiteral texts: StaticString...) {
        short = ShiftAnd(texts)
        bytes = texts.filter { $0.utf8CodeUnitCount == 1 }.map { $0.utf8Start[0] }
        self.texts = texts.filter { $0.utf8CodeUnitCount > 1 }.map { text in
            let offset = Self.rarestPair(in: text)
            return Text(
                text: text, offset: offset, first: Block(repeating: text.utf8Start[offset]),
                second: Block(repeating: text.utf8Start[offset + 1]))
        }
    }

    /// Returns whether the bytes contain one of the texts.
    func areIn(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let base = line.baseAddress, line.count > Block.scalarCount else { return short.areIn(line) }
        for byte in bytes where memchr(base, Int32(byte), line.count) != nil { return true }
        // The last block ends with the line, and may overlap the previous one.
        let last = line.count - Block.scalarCount - 1
        return texts.withUnsafeBufferPointer { texts in
            var place = 0
            while true {
                if Self.mayBe(texts, at: base + place), Self.areIn(line, texts, from: place) { return true }
                if place == last { return false }
                place = min(place + Block.scalarCount, last)
            }
        }
    }

    /// Returns whether one of the positions from `base` on has a pair of one of the texts.
    @inline(__always) private static func mayBe(_ texts: UnsafeBufferPointer<Text>, at base: UnsafeRawPointer) -> Bool {
        var found = Places.zero
        for text in texts { found |= text.places(at: base) }
        return found[0] | found[1] | found[2] | found[3] != 0
    }

    /// Returns whether one of the texts whose pairs are at the positions from `start` on is there completely.
    @inline(never) private static func areIn(
        _ line: UnsafeRawBufferPointer, _ texts: UnsafeBufferPointer<Text>, from start: Int
    ) -> Bool {
        guard let base = line.baseAddress else { return false }
        for text in texts {
            let (places, count) = (text.places(at: base + start), text.text.utf8CodeUnitCount)
            for word in 0..<Places.scalarCount {
                var left = places[word].littleEndian
                while left != 0 {
                    let index = left.trailingZeroBitCount / 8
                    left &= ~(0xFF << UInt64(index * 8))
                    let begin = start + word * 8 + index - text.offset
                    if begin >= 0, line.count - begin >= count, memcmp(base + begin, text.text.utf8Start, count) == 0 {
                        return true
                    }
                }
            }
        }
        return false
    }

    // MARK: Rare bytes

    /// Returns the position of the two neighboring bytes that are rarest in logs; the first one if there are several.
    private static func rarestPair(in text: StaticString) -> Int {
        let weights = (0..<text.utf8CodeUnitCount).map { rarity(of: text.utf8Start[$0]) }
        let pairs = zip(weights, weights.dropFirst()).map { $0 + $1 }
        return pairs.indices.max { pairs[$0] < pairs[$1] || pairs[$0] == pairs[$1] && $0 > $1 } ?? 0
    }

    /// Returns how rare a byte is in logs, which consist mostly of words, numbers and paths.
    private static func rarity(of byte: UInt8) -> Int {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "0")...UInt8(ascii: "9"): 0
        case UInt8(ascii: "a")...UInt8(ascii: "z"): "etaoinsr".utf8.contains(byte) ? 0 : 1
        case UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "="): 2
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: ":"): 3
        default: 4
        }
    }
}

/// A search for any of several texts, one byte at a time.
private struct ShiftAnd: Sendable {
    private let texts: [StaticString]
    /// The number of bits per text. A text uses as many of them as it has bytes.
    private let width: Int
    /// For each byte value, the positions in the texts' beginnings that have it.
    private let places: [UInt64]
    private let first: UInt64
    private let last: UInt64

    /// - Parameter texts: At most 32, none of them empty.
    init(_ texts: [StaticString]) {
        precondition((1...32).contains(texts.count), "1 to 32 needles fit")
        self.texts = texts
        width = UInt64.bitWidth / texts.count
        var (places, first, last) = ([UInt64](repeating: 0, count: 256), UInt64(0), UInt64(0))
        for (index, text) in texts.enumerated() {
            precondition(text.utf8CodeUnitCount > 0, "a needle has a byte")
            let used = min(width, text.utf8CodeUnitCount)
            for place in 0..<used { places[Int(text.utf8Start[place])] |= 1 << UInt64(index * width + place) }
            first |= 1 << UInt64(index * width)
            last |= 1 << UInt64(index * width + used - 1)
        }
        (self.places, self.first, self.last) = (places, first, last)
    }

    /// Returns whether the bytes contain one of the texts.
    func areIn(_ bytes: UnsafeRawBufferPointer) -> Bool {
        places.withUnsafeBufferPointer { places in
            var state: UInt64 = 0
            for index in 0..<bytes.count {
                state = (state &<< 1 | first) & places[Int(bytes[index])]
                if state & last != 0, isFound(state & last, in: bytes, at: index) { return true }
            }
            return false
        }
    }

    /// Returns whether one of the texts whose beginnings were found is there completely.
    /// - Parameters:
    ///   - found: The last bits of the texts whose beginnings end at `place`.
    private func isFound(_ found: UInt64, in bytes: UnsafeRawBufferPointer, at place: Int) -> Bool {
        var left = found
        while left != 0 {
            let text = texts[left.trailingZeroBitCount / width]
            let start = place + 1 - min(width, text.utf8CodeUnitCount)
            if let base = bytes.baseAddress, bytes.count - start >= text.utf8CodeUnitCount,
                memcmp(base + start, text.utf8Start, text.utf8CodeUnitCount) == 0
            {
                return true
            }
            left &= left &- 1
        }
        return false
    }
}
