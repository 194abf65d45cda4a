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

    /// What follows `Compiling`, in a line of exactly this form, in ASCII without a terminal's sequences; nothing for any
    /// other line, also one that says the same in another way.
    static func names(in line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard let base = line.baseAddress, line.count > word.count, line[0] == UInt8(ascii: "[") else { return nil }
        var place = 1
        while place < line.count, isNumber(line[place]) { place += 1 }
        guard place + word.count < line.count,
            word.withUnsafeBytes({ memcmp(base + place, $0.baseAddress!, $0.count) == 0 })
        else { return nil }
        let start = place + word.count
        var (space, dot) = (0, 0)
        for index in start..<line.count {
            let byte = line[index]
            switch byte {
            case UInt8(ascii: " "):
                guard space == 0, dot == 0 else { return nil }
                space = index
            case UInt8(ascii: "."): dot = index
            case UInt8(ascii: "/"), ..<0x20, 0x7F...: return nil
            default: break
            }
        }
        guard space > start, dot > space + 1, line.count - dot == 6,
            memcmp(base + dot, ".swift", 6) == 0
        else { return nil }
        return UnsafeRawBufferPointer(rebasing: line[start...])
    }

    private static func isNumber(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "/")
    }

    /// - Returns: Whether it is new.
    mutating func insert(_ name: UnsafeRawBufferPointer) -> Bool {
        let digest = Self.digest(name)
        if let known = names[digest] {
            return known.count != name.count
                || known.withUnsafeBytes { memcmp($0.baseAddress!, name.baseAddress!, name.count) != 0 }
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
        while place < bytes.count {
            hash = (hash ^ UInt64(bytes[place])) &* 0x0000_0100_0000_01b3
            place += 1
        }
        return hash ^ (hash >> 32)
    }
}
