/// Bytes of a log that may be the beginning of a secret, in their order, and which of them are secrets.
///
/// Each byte is added, marked and removed once. A job that repeatedly prints a long secret therefore costs no more than any other.
struct HeldBytes: Sendable {
    private var bytes: [UInt8] = []
    /// For each byte, one bit per `SecretView`. The bit is set if the byte counts in that view, that is, is a byte or stands for one. It is not set
    /// for line ends and terminal escapes, and for all but the first bytes of an escape.
    private var marks: [UInt16] = []
    /// The index of the first byte that is still held.
    private var first = 0
    /// The position of `bytes[0]` in the stream. Positions count from the start of the stream and do not change when bytes are removed.
    private var base = 0
    /// The secrets, in order and without overlap.
    private var secrets: [Secret] = []
    private var firstSecret = 0

    /// The bit in `marks` of the literal view.
    private static let plain: UInt16 = 1
    /// The number of removed bytes that may remain in memory: 64 KiB.
    private static let slack = 64 * 1024

    private struct Secret {
        /// The position in the stream.
        var start: Int
        var end: Int
        /// The number of its bytes that count, including removed ones.
        var significantCount: Int
    }

    var isEmpty: Bool { first == bytes.count }

    /// The number of bytes in memory, including removed ones.
    var storedCount: Int { bytes.count }

    /// The position after the last byte.
    var end: Int { base + bytes.count }

    mutating func append(_ byte: UInt8, isSignificant: Bool) {
        bytes.append(byte)
        marks.append(isSignificant ? .max : 0)
    }

    /// Records that the last `width` bytes that count are an escape, which stands for `count` bytes in the view of a bit.
    /// - Returns: The position of the escape's first byte.
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

    /// Records that no bytes from a position on are escapes in the view of a bit.
    mutating func separate(from position: Int, _ bit: UInt16) {
        for index in max(first, position - base)..<max(first, marks.count) where marks[index] & Self.plain != 0 {
            marks[index] |= bit
        }
    }

    /// Returns the position of a byte that counts in the view of a bit and is preceded by `count` such bytes from `position` on. Returns the end if
    /// there is none.
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

    /// Returns the position from which `count` bytes count in the view of a bit; the end if `count` is 0.
    func position(ofLast count: Int, _ bit: UInt16) -> Int {
        var (index, left) = (bytes.count, count)
        while left > 0, index > first {
            index -= 1
            if marks[index] & bit != 0 { left -= 1 }
        }
        return base + index
    }

    /// Marks as a secret the last `count` bytes that count literally, with everything between them.
    mutating func mask(last count: Int) {
        let start = base + first
        mask { $0.significantCount < count && $0.start > start }
    }

    /// Marks everything from a position on as a secret.
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

    /// Removes and returns the first byte. Returns `nil` if it is at `position` or after it, or if there is none.
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

    /// Frees the removed bytes while others are held, because a job can print so that some bytes are always held.
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
