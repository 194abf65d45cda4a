import Glibc

/// The lines `[5/9] Compiling Kit Parser.swift` of a build. A large build prints hundreds of thousands of them, so they are found and compared as
/// bytes.
struct CompilingLines: Sendable {
    /// The module and file as printed, keyed by a digest. Texts with equal digests are compared, so that a log cannot hide a file.
    private var names: [UInt64: [UInt8]] = [:]
    private let limit: Int
    private static let word = Array("] Compiling ".utf8)

    /// - Parameter limit: The most texts that are stored; others count as new each time.
    init(limit: Int) { self.limit = limit }

    /// Returns the text after `Compiling` in a line of exactly this form: in ASCII, without terminal sequences and without the parts of a diagnostic.
    /// `nil` for any other line, even one with the same meaning.
    static func names(in line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard let base = line.baseAddress, line.count > word.count, line[0] == UInt8(ascii: "[") else { return nil }
        var place = 1
        while place < line.count, isNumber(line[place]) { place += 1 }
        guard place + word.count < line.count,
            line[place..<place + word.count].elementsEqual(word)
        else { return nil }
        let (start, end) = (place + word.count, line.count - extensionBytes)
        guard end > start, memcmp(base + end, ".swift", extensionBytes) == 0 else { return nil }
        return kinds.withUnsafeBufferPointer { kinds in
            var space = start
            while kinds[Int(line[space])] == .letter { space += 1 }
            guard space > start, line[space] == UInt8(ascii: " "), space + 1 < end else { return nil }
            var index = space + 1
            while index < end, kinds[Int(line[index])] != .other { index += 1 }
            return index == end ? UnsafeRawBufferPointer(rebasing: line[start...]) : nil
        }
    }

    private static let extensionBytes = 6

    /// The kinds of bytes in such a line.
    private enum Kind: UInt8 {
        /// A byte of a module's or a file's name.
        case letter
        /// A byte of a file's name only.
        case dot
        /// A byte of neither: not ASCII or not printable, separators of words and paths, and `:`, `[` and `>` of diagnostics.
        case other
    }
    private static let kinds: [Kind] = (0..<256).map { byte in
        switch UInt8(byte) {
        case UInt8(ascii: "."): .dot
        case ...0x20, 0x7F..., UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: ">"): .other
        default: .letter
        }
    }

    private static func isNumber(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "/")
    }

    /// Stores a text.
    /// - Returns: Whether it is new.
    mutating func insert(_ name: UnsafeRawBufferPointer) -> Bool {
        let digest = Self.digest(name)
        if let known = names[digest] {
            return !name.elementsEqual(known)
        }
        if names.count < limit { names[digest] = Array(name) }
        return true
    }

    /// Returns a digest of the bytes. It takes eight bytes at a time; each step is multiplied as in FNV-1a and folded.
    private static func digest(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ UInt64(bytes.count)
        var place = 0
        while place + 8 <= bytes.count {
            hash = (hash ^ bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)) &* 0x9e37_79b9_7f4a_7c15
            hash ^= hash >> 29
            place += 8
        }
        // If the bytes are a multiple of eight, all of them have been read.
        if place < bytes.count, bytes.count >= 8 {
            hash =
                (hash ^ bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self)) &* 0x9e37_79b9_7f4a_7c15
            hash ^= hash >> 29
        } else {
            for byte in bytes[place...] { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        }
        return hash ^ (hash >> 32)
    }
}
