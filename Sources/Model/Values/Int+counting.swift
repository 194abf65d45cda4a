extension Int {
    /// Returns the number with its noun, in the plural unless it is 1: `1 test`, `2 tests`, `0 tests`, `1,197 tests`.
    package func counting(_ noun: StaticString) -> String { "\(grouped) \(noun)" + (self == 1 ? "" : "s") }

    /// The number with a comma before each group of three digits: `1,197`.
    package var grouped: String {
        var (digits, text) = (Array(String(magnitude).utf8), "")
        let first = digits.count % 3
        if first > 0 { text = String(decoding: digits.prefix(first), as: UTF8.self) }
        digits.removeFirst(first)
        while !digits.isEmpty {
            text += (text.isEmpty ? "" : ",") + String(decoding: digits.prefix(3), as: UTF8.self)
            digits.removeFirst(3)
        }
        return (self < 0 ? "\u{2212}" : "") + text
    }
}
