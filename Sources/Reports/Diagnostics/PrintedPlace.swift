/// A place `PATH:LINE:COLUMN` or `PATH:LINE`, as tools print it.
struct PrintedPlace: Equatable {
    var path: String
    /// The line, counted from 1; `nil` if it is printed as 0.
    var line: Int?
    var column: Int?

    /// Parses from the right, so that the path may contain colons. Fails if there is no number at the end.
    init?(_ text: some StringProtocol) {
        var rest = Substring(text)
        var numbers: [Int] = []
        while numbers.count < 2, let colon = rest.lastIndex(of: ":"),
            let number = Self.number(rest[rest.index(after: colon)...])
        {
            numbers.insert(number, at: 0)
            rest = rest[..<colon]
        }
        guard let line = numbers.first, !rest.isEmpty else { return nil }
        path = String(rest)
        self.line = line > 0 ? line : nil
        column = numbers.count > 1 && numbers[1] > 0 ? numbers[1] : nil
    }

    /// Returns a number of at most nine digits, which fits every Int; `nil` for other text.
    private static func number(_ text: Substring) -> Int? {
        guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }
}
