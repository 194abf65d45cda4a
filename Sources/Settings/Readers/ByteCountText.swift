import Model

/// A reader and writer of sizes as users write them: a whole number and a unit, `512KiB`, `64MiB`, `1GiB`.
enum ByteCountText {
    private static let units: [(name: String, bytes: Int64)] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]

    /// Reads a size of at most nine digits, so that the number of bytes cannot overflow. A space before the unit is allowed. Returns `nil` for other
    /// text.
    static func parse(_ text: String) -> ByteCount? {
        guard let unit = units.first(where: { text.hasSuffix($0.name) }) else { return nil }
        var digits = text.dropLast(unit.name.count)
        if digits.last == " " { digits.removeLast() }
        guard (1...9).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(digits)
        else { return nil }
        return ByteCount(number * unit.bytes)
    }

    /// Returns the size in the largest unit that leaves a whole number. A fraction of a KiB is dropped, since it cannot be written.
    static func print(_ size: ByteCount) -> String {
        for unit in units where size.bytes != 0 && size.bytes % unit.bytes == 0 {
            return "\(size.bytes / unit.bytes)\(unit.name)"
        }
        return "\(size.bytes / 1024)KiB"
    }
}
