import Foundation
import GRDB
package import Model

/// A file of a published version, as a database names it.
package struct NamedFile: Hashable, Sendable {
    /// The path relative to the state directory.
    package var path: String
    package var sha256: String
}

/// What became of bots and integrations while a backup was made.
package struct ChangesSince: Hashable, Sendable {
    /// The integrations that retention removed, with time and reason.
    package var removed: [IntegrationID: Removal]
    package var deletedBots: [Name]
    package var renamedBots: [Name]
}

/// Copies of a database, which no daemon works on. Everything here blocks until it is done.
extension Store {
    /// Copies a database that a daemon may be working on, by SQLite's backup interface (sqlite.org/backup.html). The copy is the state of one moment,
    /// and needs no other file.
    /// - Parameter copy: The path of the new file, which must not exist.
    /// - Throws: `newerSchema`; `cannotOpen`, `corrupt`, `full`, `io`, `busy`.
    package static func backUp(_ path: String, to copy: String) throws(StoreError) {
        do {
            try Schema.refuseNewer(path, configuration(isReadOnly: true))
            let source = try DatabaseQueue(path: path, configuration: configuration(isReadOnly: true))
            let target = try DatabaseQueue(path: copy, configuration: configuration(isReadOnly: false))
            // All pages in one step: a write of the daemon would otherwise begin it again. A reader keeps no writer from writing (WAL).
            try source.backup(to: target)
            // Without a log, so that it can also be read from a medium that nobody can write.
            try target.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
            try source.close()
            try target.close()
        } catch {
            throw StoreError(error, operation: "copy the database \(path) to \(copy)")
        }
    }

    private static func configuration(isReadOnly: Bool) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = isReadOnly
        configuration.busyMode = .timeout(Double(busyTimeout.components.seconds))
        configuration.label = "martlet.backup"
        return configuration
    }

    /// Reads a file without migrating it.
    private static func readOnly<Value>(
        _ path: String, _ operation: String, _ body: (Database) throws -> Value
    ) throws(StoreError) -> Value {
        do {
            try Schema.refuseNewer(path, configuration(isReadOnly: true))
            let queue = try DatabaseQueue(path: path, configuration: configuration(isReadOnly: true))
            let value = try queue.read(body)
            try queue.close()
            return value
        } catch {
            throw StoreError(error, operation: operation)
        }
    }

    /// Checks every page and index of a database, and returns the files of the versions that it names as published.
    /// - Throws: `corrupt` if it is damaged.
    package static func check(copy path: String) throws(StoreError) -> [NamedFile] {
        try readOnly(path, "check the database \(path)") { db in
            let finding: String? = try db.value("PRAGMA integrity_check(1)")
            guard finding == "ok" else {
                throw Refusal(code: .corrupt, message: "it is damaged: \((finding ?? "nothing was found").kept(200))")
            }
            let versions = try db.rows("SELECT product, version, files FROM versions WHERE state = 'published'")
            return try versions.flatMap { row in
                let place = "files/\(try row.name("product"))/\(try row["version"] as String)/"
                return (try row.json("files", as: [Artifact].self) ?? []).map {
                    NamedFile(path: place + $0.path, sha256: $0.sha256)
                }
            }
        }
    }

    /// Returns what became of bots and integrations since a time.
    package static func changes(in path: String, since time: Timestamp) throws(StoreError) -> ChangesSince {
        try readOnly(path, "read what was removed during the backup") { db in
            let since: StatementArguments = [time.millisecondsSinceEpoch]
            let removed = try db.rows(
                "SELECT name, number, at, reason FROM removals JOIN bots ON bots.id = bot WHERE at >= ?", since
            ).map { row in
                (
                    IntegrationID(bot: try row.name("name"), number: try row["number"]),
                    Removal(at: try row.time("at"), reason: try row["reason"])
                )
            }
            return ChangesSince(
                removed: Dictionary(removed) { $1 },
                deletedBots: try db.rows("SELECT name FROM former_bots WHERE bot IS NULL AND at >= ?", since).map {
                    try $0.name("name")
                },
                renamedBots: try db.rows("SELECT name FROM former_bots WHERE bot IS NOT NULL AND at >= ?", since).map {
                    try $0.name("name")
                })
        }
    }

    /// Records in a copy what became of integrations and bots since, whose files the backup does not have.
    package static func record(_ changes: ChangesSince, in path: String) throws(StoreError) {
        do {
            let queue = try DatabaseQueue(path: path, configuration: configuration(isReadOnly: false))
            try queue.write { db in
                for (id, removal) in changes.removed {
                    let at = removal.at.millisecondsSinceEpoch
                    try db.change(
                        """
                        UPDATE integrations SET removed_at = ?1
                        WHERE bot = (SELECT id FROM bots WHERE name = ?2) AND number = ?3 AND removed_at IS NULL
                        """, [at, id.bot.description, id.number])
                    try db.change(
                        """
                        INSERT OR REPLACE INTO removals (bot, number, at, reason)
                        SELECT id, ?3, ?1, ?4 FROM bots WHERE name = ?2
                        """, [at, id.bot.description, id.number, removal.reason])
                }
                for bot in changes.deletedBots {
                    try db.change(
                        "UPDATE bots SET deleted_at = retired_at, is_retired = 1 WHERE name = ? AND is_retired = 1",
                        [bot.description])
                }
            }
            try queue.close()
        } catch {
            throw StoreError(error, operation: "record what was removed during the backup")
        }
    }
}

extension Store {
    /// By how much the numbers of integrations go on after a restore. The bots may have used numbers after the backup was made.
    package static let numbersAfterRestore = 1000

    /// Makes a restored state safe to work on: the numbers of integrations go on with a gap, and publishing is held until an operator has said which
    /// versions were published after the backup.
    package func recordRestore(of made: String, by person: String, at time: Timestamp) async throws(StoreError) {
        try await writer.write("record the restore") { transaction in
            let db = transaction.db
            try db.change(
                "UPDATE bots SET last_number = min(last_number + ?1, ?2) WHERE last_number < ?2",
                [Self.numbersAfterRestore, Self.maximumUsedNumber])
            try db.change("DELETE FROM pauses WHERE kind IN ('drain', 'publishing') AND bot IS ?", [nil])
            try db.change(
                "INSERT INTO pauses (kind, reason, person, at) VALUES ('publishing', ?, ?, ?)",
                [
                    "this state was restored from a backup of \(made), and versions may have been published since",
                    person.kept, time.millisecondsSinceEpoch,
                ])
            transaction.changed(.bots)
        }
    }

    /// Records versions that were published and whose rows and files are lost, so that no other bytes get their numbers, and lets publishing go on.
    /// - Returns: Whether publishing was held.
    package func resumePublishing(
        lost: [(product: Name, version: SemanticVersion)], by person: String, at time: Timestamp
    ) async throws(StoreError) -> Bool {
        try await writer.write("let publishing go on") { transaction in
            let db = transaction.db
            for (product, version) in lost {
                try db.change(
                    "INSERT OR IGNORE INTO lost_versions (product, version, person, at) VALUES (?, ?, ?, ?)",
                    [product.description, version.description, person.kept, time.millisecondsSinceEpoch])
                transaction.changed(.version(product: product))
            }
            try db.change("DELETE FROM pauses WHERE kind = ? AND bot IS NULL", ["publishing"])
            transaction.changed(.bots)
            return db.changesCount > 0
        }
    }

    /// Returns the versions of a product that were published and are lost.
    static func lostVersions(of product: Name, _ db: Database) throws -> [SemanticVersion] {
        try db.rows("SELECT version FROM lost_versions WHERE product = ?", [product.description]).map {
            try $0.value("version") { SemanticVersion($0) }
        }
    }
}
