import GRDB

/// Queries whose statements are compiled once a connection, and whose rows are read where they stand.
///
/// Compiling a query with two joins takes longer than running it, and a copied row looks its columns up by comparing
/// lower-cased names one by one: both showed first in a profile of small builds.
extension Database {
    /// What `map` makes of the first row; nothing when there is none. The row lives no longer than `map` runs.
    func first<Value>(
        _ sql: String, _ arguments: StatementArguments = [], _ map: (Row) throws -> Value
    ) throws -> Value? {
        let rows = try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
        return try rows.next().map(map)
    }

    /// What `map` makes of each row. `map` must not run the same query.
    func all<Value>(
        _ sql: String, _ arguments: StatementArguments = [], _ map: (Row) throws -> Value
    ) throws -> [Value] {
        let rows = try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
        var values: [Value] = []
        while let row = try rows.next() { values.append(try map(row)) }
        return values
    }

    /// Runs a statement that returns no rows.
    func change(_ sql: String, _ arguments: StatementArguments) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }
}
