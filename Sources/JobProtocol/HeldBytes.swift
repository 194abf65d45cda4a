/// Bytes of a log that may be the beginning of a secret, in their order, and which of them are one.
///
/// Each byte is put in, marked and taken out once, so that a job which prints a long secret again and again costs no more
/// than any other.
struct HeldBytes: Sendable {
    private var bytes: [UInt8] = []
    /// By a bit for each `SecretView`: what counts there, that is, is a byte or the place of one. The others are line ends and terminal
    /// escapes within, and all but the first bytes of an escape.
    private var marks: [UInt16] = []
    /// The first that is still held.
    private var first = 0
    /// Where in the stream the first byte in memory is. Positions are the stream's; they outlive what is taken out.
    private var base = 0
    /// Secrets, in their order, apart from each other.
    private var secrets: [Secret] = []
    private var firstSecret = 0

    /// In `marks`: as it stands in the stream.
    private static let plain: UInt16 = 1
    /// How many bytes that were taken out may still be there: 64 KiB.
    private static let slack = 64 * 1024

    private struct Secret {
        /// Positions in the stream.
        var start: Int
        var end: Int
        /// How many bytes of it count, those taken out included.
        var significantCount: Int
    }

    var isEmpty: Bool { first == bytes.count }

    /// The bytes in memory, those taken out included.
    var storedCount: Int { bytes.count }

    /// The position after the last byte.
    var end: Int { base + bytes.count }

    mutating func append(_ byte: UInt8, isSignificant: Bool) {
        bytes.append(byte)
        marks.append(isSignificant ? .max : 0)
    }

    /// The last `width` bytes that count are an escape, which stands for `count` bytes in the view of a bit.
    /// - Returns: The position of its first byte.
    mutating func join(last width: Int, into count: Int, _ bit: UInt16) -> Int {
        var (index, left) = (bytes.count, width)
        while left > 0, index > first {
            index -= 1
            guard marks[index] & Self.plain != 0 else { continue }
            left -= 1
            if left >= count { marks[index] &= ~bit }
        }
        return base + index
    }

    /// From a position on no bytes are escapes any more in the view of a bit.
    mutating func separate(from position: Int, _ bit: UInt16) {
        for index in max(first, position - base)..<max(first, marks.count) where marks[index] & Self.plain != 0 {
            marks[index] |= bit
        }
    }

    /// The position of the byte that counts in the view of a bit and has `count` others between `position` and itself; else the end.
    func position(after count: Int, from position: Int, _ bit: UInt16) -> Int {
        var (index, left) = (position - base, count)
        while index < marks.count {
            if marks[index] & bit != 0 {
                if left == 0 { break }
                left -= 1
            }
            index += 1
        }
        return base + index
    }

    /// The position of the last but `count - 1` byte that counts in the view of a bit; the end for none.
    func position(ofLast count: Int, _ bit: UInt16) -> Int {
        var (index, left) = (bytes.count, count)
        while left > 0, index > first {
            index -= 1
            if marks[index] & bit != 0 { left -= 1 }
        }
        return base + index
    }

    /// The last `count` bytes that count as they stand, and what is between them, are a secret.
    mutating func mask(last count: Int) {
        let start = base + first
        mask { $0.significantCount < count && $0.start > start }
    }

    /// All from a position on is a secret.
    mutating func mask(from position: Int) {
        mask { $0.start > position }
    }

    private mutating func mask(while isShort: (Secret) -> Bool) {
        var new = Secret(start: end, end: end, significantCount: 0)
        while isShort(new) {
            if secrets.count > firstSecret, let before = secrets.last, before.end == new.start {
                new.start = before.start
                new.significantCount += before.significantCount
                secrets.removeLast()
            } else {
                new.start -= 1
                if marks[new.start - base] & Self.plain != 0 { new.significantCount += 1 }
            }
        }
        secrets.append(new)
    }

    /// The first byte, unless it is at `position` or after it.
    mutating func removeFirst(before position: Int) -> (byte: UInt8, isMasked: Bool)? {
        guard first < bytes.count else {
            empty()
            return nil
        }
        guard base + first < position else { return nil }
        let byte = bytes[first]
        var isMasked = false
        if firstSecret < secrets.count {
            isMasked = secrets[firstSecret].start <= base + first
            if secrets[firstSecret].end == base + first + 1 { firstSecret += 1 }
        }
        first += 1
        if first >= Self.slack, first * 2 >= bytes.count { compact() }
        return (byte, isMasked)
    }

    /// A job can print so that there is always something to hold.
    private mutating func compact() {
        bytes.removeFirst(first)
        marks.removeFirst(first)
        secrets.removeFirst(firstSecret)
        base += first
        (first, firstSecret) = (0, 0)
    }

    private mutating func empty() {
        base += bytes.count
        bytes.removeAll(keepingCapacity: true)
        marks.removeAll(keepingCapacity: true)
        secrets.removeAll(keepingCapacity: true)
        (first, firstSecret) = (0, 0)
    }
}
