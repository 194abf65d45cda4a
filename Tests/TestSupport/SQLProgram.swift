/// Another program at a database, such as one that makes it fail. Tests that use it need `python3`.
package enum SQLProgram {
    /// - Parameter path: The database's.
    package static func run(_ statement: String, at path: String) async throws {
        let script = """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1], timeout=60)
            database.execute(sys.argv[2])
            database.commit()
            """
        try await runExpectingSuccess(["python3", "-c", script, path, statement])
    }
}
