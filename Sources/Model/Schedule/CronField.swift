/// A field of a cron expression: `*`, numbers, names, ranges, steps, and lists of those.
struct CronField {
    let name: String
    let range: ClosedRange<Int>
    /// Names of three letters. The first one has the value `firstNamed`.
    var names: [String] = []
    var firstNamed = 0

    static let minute = CronField(name: "minute", range: 0...59)
    static let hour = CronField(name: "hour", range: 0...23)
    static let day = CronField(name: "day of the month", range: 1...31)
    static let month = CronField(
        name: "month", range: 1...12,
        names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], firstNamed: 1)
    /// The day of the week; 0 and 7 are Sunday.
    static let weekday = CronField(
        name: "day of the week", range: 0...7, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"])

    /// Parses a field.
    /// - Returns: The set of values as bits.
    /// - Throws: `Problem` if the text is not a valid field.
    func read(_ text: Substring) throws(CronExpression.Problem) -> UInt64 {
        var bits: UInt64 = 0
        for item in text.split(separator: ",", omittingEmptySubsequences: false) { bits |= try element(item) }
        return bits
    }

    private func element(_ text: Substring) throws(CronExpression.Problem) -> UInt64 {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let values = parts.first, (1...2).contains(parts.count) else { throw problem(text) }
        var step = 1
        if parts.count == 2 {
            guard let number = Self.number(parts[1]), number > 0 else { throw problem(text) }
            step = number
        }
        let (first, last): (Int, Int)
        if values == "*" {
            (first, last) = (range.lowerBound, range.upperBound == 7 ? 6 : range.upperBound)
        } else {
            let ends = values.split(separator: "-", omittingEmptySubsequences: false)
            guard let begin = ends.first, ends.count <= 2 else { throw problem(text) }
            first = try value(begin, in: text)
            last = ends.count == 2 ? try value(ends[1], in: text) : first
            guard first <= last else {
                throw CronExpression.Problem(
                    message: "\(text) goes backwards; write \(begin)-\(range.upperBound),\(range.lowerBound)-\(ends[1])"
                )
            }
            if parts.count == 2, ends.count == 1 {
                throw CronExpression.Problem(
                    message: "a step needs a range: write \(first)-\(range.upperBound)/\(step) instead of \(text)")
            }
        }
        return stride(from: first, through: last, by: step).reduce(0) { $0 | 1 << UInt64($1) }
    }

    private func value(_ text: Substring, in element: Substring) throws(CronExpression.Problem) -> Int {
        if let index = names.firstIndex(of: text.lowercased()) { return index + firstNamed }
        guard let number = Self.number(text) else { throw problem(element) }
        guard range.contains(number) else {
            throw CronExpression.Problem(
                message: "the \(name) is \(range.lowerBound) to \(range.upperBound), not \(number)")
        }
        return number
    }

    private static func number(_ text: Substring) -> Int? {
        (1...3).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }

    private func problem(_ text: Substring) -> CronExpression.Problem {
        let hint = names.isEmpty ? "" : ", or \(names[0]) to \(names[names.count - 1])"
        return CronExpression.Problem(
            message: "\"\(text.prefix(32))\" is no \(name): \(range.lowerBound) to \(range.upperBound)\(hint), `*`, "
                + "ranges as 1-5, steps as */2, and lists of those")
    }
}
