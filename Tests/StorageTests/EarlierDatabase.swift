import Foundation
import GRDB
import Model

/// A database of an earlier schema version, with some rows in each table that existed then.
///
/// `Versions/0001.sql` to `0029.sql` are dumps. `Versions/next.py` made each by running migration N on version N−1, and by adding rows to what was
/// new; the rows of version 4 are those that the program's own conversion wrote. They are the databases that each version left, since a migration
/// does not change. Migrations 1, 10 and 23 did change, within 80 minutes after they were committed and before any release: a database that a commit
/// in between wrote is not among these, and no migration repairs it.
enum EarlierDatabase {
    /// The results of `kit#41` in each of them: rows of `tests` in versions 1 to 3, a record since.
    static let tests = [
        TestResult(suite: "KitTests", name: "testOne", outcome: .passed, duration: .milliseconds(1500)),
        TestResult(
            suite: "KitTests", name: "testTwo", outcome: .failed, duration: .microseconds(1_234_567),
            message: "expected 1", path: "Tests/a.swift", line: 7),
        TestResult(suite: "", name: "testOne", outcome: .skipped, message: "not on Linux", path: "Tests/b.swift"),
    ]

    /// Creates the database of a version.
    static func create(version: Int, at path: String) throws {
        let file = String(format: "Versions/%04d.sql", version)
        let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let sql = try String(contentsOf: directory.appendingPathComponent(file), encoding: .utf8)
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }
}
