/// One of a version's three numbers, as long as it may be written: Semantic Versioning sets no limit.
package struct VersionNumber: Hashable, Sendable, Comparable, CustomStringConvertible, ExpressibleByIntegerLiteral {
    /// Decimal digits without leading zeros.
    package let description: String

    /// A number below 0 is 0.
    package init(_ value: Int) { description = String(max(0, value)) }

    package init(integerLiteral value: Int) { self.init(value) }

    /// Digits as Semantic Versioning has them: `0`, or no zero first.
    package init?(_ text: some StringProtocol) {
        let bytes = text.utf8
        guard let first = bytes.first, bytes.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            first != UInt8(ascii: "0") || bytes.count == 1
        else { return nil }
        description = String(text)
    }

    /// Without leading zeros the longer one is the greater.
    package static func < (left: VersionNumber, right: VersionNumber) -> Bool {
        let (one, other) = (left.description.utf8, right.description.utf8)
        return one.count == other.count ? one.lexicographicallyPrecedes(other) : one.count < other.count
    }

    /// One more.
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
