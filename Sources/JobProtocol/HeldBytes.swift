/// Bytes of a log that may be the beginning of a secret, in their order, and which of them are one.
///
/// Each byte is put in, marked and taken out once, so that a job which prints a long secret again and again costs no more
/// than any other.
struct HeldBytes: Sendable {
    private var bytes: [UInt8] = []
    /// What counts; the others are line ends and terminal escapes within.
    private var isSignificant: [Bool] = []
    /// The first that is still held.
    private var first = 0
    private var significantCount = 0
    /// Secrets, in their order, apart from each other.
    private var secrets: [Secret] = []
    private var firstSecret = 0

    /// How many bytes that were taken out may still be there: 64 KiB.
    private static let slack = 64 * 1024

    private struct Secret {
        var start: Int
        var end: Int
        /// How many bytes of it count, those taken out included.
        var significantCount: Int
    }

    var isEmpty: Bool { first == bytes.count }

    /// The bytes in memory, those taken out included.
    var storedCount: Int { bytes.count }

    mutating func append(_ byte: UInt8, isSignificant: Bool) {
        bytes.append(byte)
        self.isSignificant.append(isSignificant)
        if isSignificant { significantCount += 1 }
    }

    /// The last `count` bytes that count, and what is between them, are a secret.
    mutating func mask(last count: Int) {
        var new = Secret(start: bytes.count, end: bytes.count, significantCount: 0)
        while new.significantCount < count, new.start > first {
            if secrets.count > firstSecret, let before = secrets.last, before.end == new.start {
                new.start = before.start
                new.significantCount += before.significantCount
                secrets.removeLast()
            } else {
                new.start -= 1
                if isSignificant[new.start] { new.significantCount += 1 }
            }
        }
        secrets.append(new)
    }

    /// The first byte, unless it is of the last `count` that count or lies between them.
    mutating func removeFirst(keeping count: Int) -> (byte: UInt8, isMasked: Bool)? {
        guard first < bytes.count else {
            empty()
            return nil
        }
        if isSignificant[first] {
            guard significantCount > count else { return nil }
            significantCount -= 1
        }
        let byte = bytes[first]
        var isMasked = false
        if firstSecret < secrets.count {
            isMasked = secrets[firstSecret].start <= first
            if secrets[firstSecret].end == first + 1 { firstSecret += 1 }
        }
        first += 1
        if first >= Self.slack, first * 2 >= bytes.count { compact() }
        return (byte, isMasked)
    }

    /// A job can print so that there is always something to hold.
    private mutating func compact() {
        bytes.removeFirst(first)
        isSignificant.removeFirst(first)
        secrets = secrets.dropFirst(firstSecret).map {
            Secret(start: $0.start - first, end: $0.end - first, significantCount: $0.significantCount)
        }
        (first, firstSecret) = (0, 0)
    }

    private mutating func empty() {
        bytes.removeAll(keepingCapacity: true)
        isSignificant.removeAll(keepingCapacity: true)
        secrets.removeAll(keepingCapacity: true)
        (first, firstSecret, significantCount) = (0, 0, 0)
    }
}
