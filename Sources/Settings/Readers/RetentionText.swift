/// A reader and writer of the numbers of `retention` as users write them: `50GB`, `20GiB`, `5M`, `200000`.
package enum RetentionText {
    private static let units: [(name: String, bytes: Int64)] = [
        ("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("TiB", 1 << 40), ("GiB", 1 << 30),
        ("MiB", 1 << 20),
    ]
    private static let multiples: [(name: String, count: Int64)] = [("M", 1_000_000), ("k", 1000), ("", 1)]

    /// Reads a size of at most nine digits and a unit. Returns `nil` for other text and for sizes that do not fit in 64 bits.
    static func bytes(_ text: String) -> Int64? {
        guard let unit = units.first(where: { text.hasSuffix($0.name) }) else { return nil }
        var digits = text.dropLast(unit.name.count)
        if digits.last == " " { digits.removeLast() }
        return number(digits, times: unit.bytes)
    }

    static func files(_ text: String) -> Int64? {
        multiples.first { text.hasSuffix($0.name) }.flatMap { number(text.dropLast($0.name.count), times: $0.count) }
    }

    private static func number(_ digits: Substring, times unit: Int64) -> Int64? {
        guard (1...9).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(digits)
        else { return nil }
        let (value, hasOverflowed) = number.multipliedReportingOverflow(by: unit)
        return hasOverflowed ? nil : value
    }

    /// Returns the size in the unit that gives the smallest whole number; in bytes if no unit divides it.
    package static func print(bytes: Int64) -> String {
        units.filter { bytes % $0.bytes == 0 }.min { bytes / $0.bytes < bytes / $1.bytes }
            .map { "\(bytes / $0.bytes)\($0.name)" } ?? "\(bytes) bytes"
    }

    /// Returns the number in millions or thousands if it is a multiple of those.
    package static func print(files: Int64) -> String {
        multiples.first { files % $0.count == 0 }.map { "\(files / $0.count)\($0.name)" } ?? "\(files)"
    }
}
