/// Access to a database by another program, for example to make it fail. Tests that use it need `python3`.
package enum SQLProgram {
    /// Executes a statement that changes the database.
    /// - Parameter path: The path of the database.
    package static func run(_ statement: String, at path: String) async throws {
        _ = try await read(statement, at: path)
    }

    /// - Returns: The first value of the first row as text; `nil` if there is no row.
    package static func read(_ statement: String, at path: String) async throws -> String? {
        let script = """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1], timeout=60)
            row = database.execute(sys.argv[2]).fetchone()
            database.commit()
            if row: sys.stdout.write(str(row[0]))
            """
        let output = try await runExpectingSuccess(["python3", "-c", script, path, statement])
        return output.isEmpty ? nil : output
    }
}
