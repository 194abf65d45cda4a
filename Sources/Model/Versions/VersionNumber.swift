/// One of a version's three numbers, of any length: Semantic Versioning sets no limit.
package struct VersionNumber: Hashable, Sendable, Comparable, CustomStringConvertible, ExpressibleByIntegerLiteral {
    /// The decimal digits without leading zeros.
    package let description: String

    /// Creates a number. A negative value becomes 0.
    package init(_ value: Int) { description = String(max(0, value)) }

    package init(integerLiteral value: Int) { self.init(value) }

    /// Parses digits as in Semantic Versioning: `0`, or digits without a leading zero.
    /// - Returns: `nil` for other texts.
    package init?(_ text: some StringProtocol) {
        let bytes = text.utf8
        guard let first = bytes.first, bytes.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            first != UInt8(ascii: "0") || bytes.count == 1
        else { return nil }
        description = String(text)
    }

    /// Compares the lengths first: without leading zeros the longer number is the greater one.
    package static func < (left: VersionNumber, right: VersionNumber) -> Bool {
        let (one, other) = (left.description.utf8, right.description.utf8)
        return one.count == other.count ? one.lexicographicallyPrecedes(other) : one.count < other.count
    }

    /// The number plus one.
    package var next: VersionNumber {
        var digits = Array(description.utf8)
        var place = digits.count - 1
        while place >= 0, digits[place] == UInt8(ascii: "9") {
            digits[place] = UInt8(ascii: "0")
            place -= 1
        }
        if place >= 0 { digits[place] += 1 } else { digits.insert(UInt8(ascii: "1"), at: 0) }
        return VersionNumber(unchecked: String(decoding: digits, as: UTF8.self))
    }

    private init(unchecked text: String) { description = text }
}
