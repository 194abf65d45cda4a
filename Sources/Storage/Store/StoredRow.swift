import Foundation
import GRDB
import Model

/// A row of a query's result. Every column is checked when it is read: a `NULL`, or a value of another type than the caller wants, throws a refusal
/// with the code `corrupt` that names the column and its table.
///
/// GRDB's own subscripts end the process in both cases, so no other file reads its `Row` (`ArchitectureTests`). Columns that may be `NULL` are read
/// into an optional: `try row["message"] as String?`.
struct StoredRow {
    private let row: Row
    private let sql: String

    /// - Parameter sql: The query; errors name its tables.
    init(_ row: Row, of sql: String) {
        self.row = row
        self.sql = sql
    }

    subscript<Value: StoredValue>(_ column: String) -> Value {
        get throws {
            let value: DatabaseValue
            do { value = try row.decode(DatabaseValue.self, forColumn: column) } catch {
                throw Refusal(
                    code: .statement,
                    message:
                        "the query of \(tables) has no column \(column); this is a mistake in Martlet, please report it"
                )
            }
            guard let value = Value.stored(value.storage) else { throw damaged(column, value) }
            return value
        }
    }

    /// - Parameter index: The column's index, below the number of columns of the query.
    subscript<Value: StoredValue>(_ index: Int) -> Value {
        get throws {
            guard (0..<row.count).contains(index) else {
                throw Refusal(
                    code: .statement,
                    message:
                        "the query of \(tables) has no column \(index); this is a mistake in Martlet, please report it"
                )
            }
            let value = try row.decode(DatabaseValue.self, atIndex: index)
            guard let value = Value.stored(value.storage) else {
                throw damaged(row.columnNames.dropFirst(index).first ?? "\(index)", value)
            }
            return value
        }
    }

    private func damaged(_ column: String, _ value: DatabaseValue) -> Refusal {
        let found =
            switch value.storage {
            case .null: "NULL"
            case .int64: "an integer"
            case .double: "a fraction"
            case .string: "text"
            case .blob: "bytes"
            }
        return Refusal(code: .corrupt, message: "the column \(column) of \(tables) holds \(found), \(Self.remedy)")
    }

    /// Returns the refusal for a column whose value has the right type but is invalid.
    private func damaged(_ column: String) -> Refusal {
        Refusal(code: .corrupt, message: "the column \(column) of \(tables) holds a value \(Self.remedy)")
    }

    private static let remedy = "which Martlet never writes there; stop the daemon and restore a backup"

    /// The names of the tables in the query.
    private var tables: String {
        let words = sql.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
        var names: [Substring] = []
        for (word, name) in zip(words, words.dropFirst())
        where ["FROM", "JOIN", "UPDATE", "INTO"].contains(word) && name != "SELECT" && !names.contains(name) {
            names.append(name)
        }
        return names.isEmpty ? "a query" : names.joined(separator: ", ")
    }
}

/// Reads columns as domain values. An invalid value means a damaged file, and the error says so.
extension StoredRow {
    func value<Value>(_ column: String, _ make: (String) -> Value?) throws -> Value {
        guard let value = make(try self[column]) else { throw damaged(column) }
        return value
    }

    func optional<Value>(_ column: String, _ make: (String) -> Value?) throws -> Value? {
        guard let text = try self[column] as String? else { return nil }
        guard let value = make(text) else { throw damaged(column) }
        return value
    }

    func name(_ column: String) throws -> Name { try value(column) { Name($0) } }
    func ref(_ column: String) throws -> RefName { try value(column) { RefName($0) } }
    func size(_ column: String) throws -> ByteCount {
        let bytes: Int64 = try self[column]
        guard bytes >= 0 else { throw damaged(column) }
        return ByteCount(bytes)
    }

    func time(_ column: String) throws -> Timestamp { Timestamp(millisecondsSinceEpoch: try self[column]) }
    func optionalTime(_ column: String) throws -> Timestamp? {
        (try self[column] as Int64?).map { Timestamp(millisecondsSinceEpoch: $0) }
    }

    func json<Value: Decodable>(_ column: String, as type: Value.Type) throws -> Value? {
        guard let text = try self[column] as String? else { return nil }
        do { return try JSONDecoder().decode(type, from: Data(text.utf8)) } catch { throw damaged(column) }
    }
}

/// A type as which a column can be read.
protocol StoredValue {
    /// Converts a column's value.
    /// - Returns: `nil` for a value of another type.
    static func stored(_ value: DatabaseValue.Storage) -> Self?
}

extension Int64: StoredValue {
    static func stored(_ value: DatabaseValue.Storage) -> Int64? {
        if case .int64(let number) = value { number } else { nil }
    }
}

extension Int: StoredValue {
    static func stored(_ value: DatabaseValue.Storage) -> Int? { Int64.stored(value).flatMap { Int(exactly: $0) } }
}

extension Bool: StoredValue {
    static func stored(_ value: DatabaseValue.Storage) -> Bool? { Int64.stored(value).map { $0 != 0 } }
}

extension String: StoredValue {
    static func stored(_ value: DatabaseValue.Storage) -> String? {
        if case .string(let text) = value { text } else { nil }
    }
}

extension Data: StoredValue {
    static func stored(_ value: DatabaseValue.Storage) -> Data? {
        switch value {
        case .blob(let bytes): bytes
        default: nil
        }
    }
}

/// Reads `NULL` as `nil`. A value of another type is still an error.
extension Optional: StoredValue where Wrapped: StoredValue {
    static func stored(_ value: DatabaseValue.Storage) -> Wrapped?? {
        if case .null = value { return .some(nil) }
        return Wrapped.stored(value).map { .some($0) }
    }
}

/// Returns the JSON text of a value for a column. Keys are sorted, so that equal values have equal texts.
func jsonText(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
}

extension String {
    /// The text, cut at a character boundary to the `Store.maximumTextBytes` that are stored.
    var kept: String { kept(Store.maximumTextBytes) }

    func kept(_ limit: Int) -> String {
        if utf8.count <= limit { return self }
        var end = utf8.index(startIndex, offsetBy: limit)
        while end > startIndex, end.samePosition(in: self) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}

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
