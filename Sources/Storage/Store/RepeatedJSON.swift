/// A JSON column whose values repeat from row to row, such as the configurations of an integration's issues. Each text is decoded once, and rows
/// with the same text share one value: otherwise a million of them would need a gigabyte.
final class RepeatedJSON<Value: Decodable> {
    private let column: String
    private var values: [String: Value] = [:]
    /// The most cached values.
    private let limit = 1000

    init(_ column: String) { self.column = column }

    func value(_ row: StoredRow) throws -> Value? {
        guard let text = try row[column] as String? else { return nil }
        if let known = values[text] { return known }
        let value = try row.json(column, as: Value.self)
        if let value, values.count < limit { values[text] = value }
        return value
    }
}
