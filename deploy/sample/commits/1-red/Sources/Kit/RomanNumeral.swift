/// A whole number from 1 to 3999 and how the Romans wrote it.
public struct RomanNumeral: Equatable, Sendable {
    /// What can be written: there is no sign for nothing, nor for 5000.
    public static let range = 1...3999

    public let value: Int

    /// - Returns: Nothing for a number that cannot be written.
    public init?(_ value: Int) {
        guard value >= 1, value <= 4000 else { return nil }
        self.value = value
    }

    /// Reads a numeral in its one right form: `IV`, not `IIII`. Lower case is read, too.
    public init?(_ text: String) {
        var rest = Substring(text.uppercased())
        var sum = 0
        for sign in Sign.all {
            while rest.hasPrefix(sign.letters) {
                sum += sign.value
                rest.removeFirst(sign.letters.count)
            }
        }
        guard rest.isEmpty, let numeral = RomanNumeral(sum) else { return nil }
        guard numeral.description == text.uppercased() else { return nil }
        self = numeral
    }
}

extension RomanNumeral: CustomStringConvertible {
    public var description: String {
        var rest = value
        var text = ""
        for sign in Sign.all {
            while rest >= sign.value {
                text += sign.letters
                rest -= sign.value
            }
        }
        return text
    }
}

extension RomanNumeral: Comparable {
    public static func < (left: RomanNumeral, right: RomanNumeral) -> Bool {
        left.value < right.value
    }
}
