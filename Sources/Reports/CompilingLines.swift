import Glibc

/// The lines `[5/9] Compiling Kit Parser.swift` of a build, of which a large one prints hundreds of thousands: found and
/// compared by their bytes alone.
struct CompilingLines: Sendable {
    /// By a digest: the module and the file as printed. Two of one digest are told apart, so that no log can hide a file.
    private var names: [UInt64: [UInt8]] = [:]
    private let limit: Int
    private static let word = Array("] Compiling ".utf8)

    /// - Parameter limit: How many are kept; others are new every time.
    init(limit: Int) { self.limit = limit }

    /// The text after `Compiling`, in a line of exactly this form, in ASCII, without terminal sequences and without the parts of a diagnostic;
    /// `nil` for any other line, even one that says the same differently.
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

    /// What a byte may be.
    private enum Kind: UInt8 {
        /// Of a module's name and of a file's.
        case letter
        /// Of a file's name alone.
        case dot
        /// Of none: what is no ASCII or not printed, what parts words and paths, and `:`, `[` and `>` of diagnostics.
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

    /// - Returns: Whether it is new.
    mutating func insert(_ name: UnsafeRawBufferPointer) -> Bool {
        let digest = Self.digest(name)
        if let known = names[digest] {
            return !name.elementsEqual(known)
        }
        if names.count < limit { names[digest] = Array(name) }
        return true
    }

    /// Eight bytes at a time, each step multiplied as in FNV-1a and folded.
    private static func digest(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ UInt64(bytes.count)
        var place = 0
        while place + 8 <= bytes.count {
            hash = (hash ^ bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)) &* 0x9e37_79b9_7f4a_7c15
            hash ^= hash >> 29
            place += 8
        }
        // Nothing is left to distinguish if the last eight bytes were read whole.
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
