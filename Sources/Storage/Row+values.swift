import Foundation
import GRDB
import Model

/// Columns as the nouns they hold. A column that does not hold its noun is a damaged file, and said so.
extension Row {
    func value<Value>(_ column: String, _ make: (String) -> Value?) throws -> Value {
        guard let value = try optional(column, make) else { throw damaged(column) }
        return value
    }

    func optional<Value>(_ column: String, _ make: (String) -> Value?) throws -> Value? {
        guard let text: String = self[column] else { return nil }
        guard let value = make(text) else { throw damaged(column) }
        return value
    }

    func name(_ column: String) throws -> Name { try value(column) { Name($0) } }
    func ref(_ column: String) throws -> RefName { try value(column) { RefName($0) } }
    func time(_ column: String) -> Timestamp { Timestamp(millisecondsSinceEpoch: self[column]) }
    func optionalTime(_ column: String) -> Timestamp? {
        (self[column] as Int64?).map { Timestamp(millisecondsSinceEpoch: $0) }
    }

    func json<Value: Decodable>(_ column: String, as type: Value.Type) throws -> Value? {
        guard let text: String = self[column] else { return nil }
        do { return try JSONDecoder().decode(type, from: Data(text.utf8)) } catch { throw damaged(column) }
    }

    private func damaged(_ column: String) -> Refusal {
        Refusal(
            code: .corrupt,
            message: "the column \(column) holds what Martlet never writes; stop the daemon and restore a backup")
    }
}

/// A value as the text of a JSON column; keys are sorted, so that equal values are equal texts.
func jsonText(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
}

extension String {
    /// The text, cut at a character's end to the bytes that the store keeps.
    var kept: String { kept(Store.maximumTextBytes) }

    func kept(_ limit: Int) -> String {
        if utf8.count <= limit { return self }
        var end = utf8.index(startIndex, offsetBy: limit)
        while end > startIndex, end.samePosition(in: self) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
