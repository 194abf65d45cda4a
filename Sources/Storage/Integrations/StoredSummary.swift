import Model

extension StoredRow {
    /// Returns the summary in a column; `nil` if the column is `NULL`. Each row of a list has one, and decoding JSON takes longer than the query.
    /// Therefore text in this version's format is read without a decoder.
    func summary(_ column: String) throws -> Summary? {
        guard let text = try self[column] as String? else { return nil }
        return try Summary(written: text) ?? json(column, as: Summary.self)
    }
}

extension Summary {
    /// Reads the text that `jsonText` writes for a summary.
    /// - Parameter text: A summary's JSON text. Any other text, such as another order of keys or a missing key, gives `nil`.
    init?(written text: String) {
        var rest = text.utf8[...]
        func skip(_ literal: StaticString) -> Bool {
            literal.withUTF8Buffer { bytes in
                guard rest.starts(with: bytes) else { return false }
                rest = rest.dropFirst(bytes.count)
                return true
            }
        }
        func number(_ key: StaticString) -> Int? {
            guard skip(key) else { return nil }
            let digits = rest.prefix { $0 == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            rest = rest.dropFirst(digits.count)
            return Int(Substring(digits))
        }
        func values() -> Counts? {
            var counts = Counts()
            guard let analyzerWarnings = number("{\"analyzerWarnings\":"), let errors = number(",\"errors\":"),
                let flakyTests = number(",\"flakyTests\":"), let testFailures = number(",\"testFailures\":"),
                let tests = number(",\"tests\":"), let warnings = number(",\"warnings\":"), skip("}")
            else { return nil }
            (counts.errors, counts.warnings, counts.analyzerWarnings) = (errors, warnings, analyzerWarnings)
            (counts.testFailures, counts.tests, counts.flakyTests) = (testFailures, tests, flakyTests)
            return counts
        }
        guard skip("{\"change\":"), let change = values(), skip(",\"counts\":"), let counts = values(), skip("}"),
            rest.isEmpty
        else { return nil }
        self.init(counts: counts, change: change)
    }
}
