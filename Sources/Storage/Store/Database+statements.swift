import GRDB

/// Queries. They return rows as `StoredRow`, whose columns are checked when they are read.
///
/// Each statement is compiled once per connection: compiling a query with two joins takes longer than running it. `first`, `all`, `value` and
/// `values` read rows in place; a copied row finds its columns by comparing lower-cased names one by one.
extension Database {
    /// Returns the result of `map` for the first row; `nil` if there is none. The row is valid only while `map` runs.
    func first<Value>(
        _ sql: String, _ arguments: StatementArguments = [], _ map: (StoredRow) throws -> Value
    ) throws -> Value? {
        let rows = try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
        return try rows.next().map { try map(StoredRow($0, of: sql)) }
    }

    /// Returns the result of `map` for each row. `map` must not run the same query.
    func all<Value>(
        _ sql: String, _ arguments: StatementArguments = [], _ map: (StoredRow) throws -> Value
    ) throws -> [Value] {
        let rows = try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
        var values: [Value] = []
        while let row = try rows.next() { values.append(try map(StoredRow(row, of: sql))) }
        return values
    }

    /// Returns a copy of the first row; `nil` if there is none.
    func row(_ sql: String, _ arguments: StatementArguments = []) throws -> StoredRow? {
        try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments).map { StoredRow($0, of: sql) }
    }

    /// Returns copies of all rows.
    func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [StoredRow] {
        try Row.fetchAll(cachedStatement(sql: sql), arguments: arguments).map { StoredRow($0, of: sql) }
    }

    /// Returns the first column of the first row; `nil` if there is no row, or the column is `NULL`.
    func value<Value: StoredValue>(_ sql: String, _ arguments: StatementArguments = []) throws -> Value? {
        try first(sql, arguments) { try $0[0] as Value? } ?? nil
    }

    /// Returns the first column of each row.
    func values<Value: StoredValue>(_ sql: String, _ arguments: StatementArguments = []) throws -> [Value] {
        try all(sql, arguments) { try $0[0] }
    }

    /// Runs a statement that returns no rows.
    func change(_ sql: String, _ arguments: StatementArguments) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }
}
