import Foundation
import GRDB
package import Model

/// The coverage of an attempt's tests, with the configuration's previous coverage.
package struct StoredCoverage: Hashable, Sendable {
    /// An earlier integration and its coverage, for comparison.
    package struct Before: Hashable, Sendable {
        package var integration: IntegrationID
        package var coverage: Coverage

        package init(integration: IntegrationID, coverage: Coverage) {
            self.integration = integration
            self.coverage = coverage
        }
    }

    package var attempt: AttemptID
    package var coverage: Coverage
    /// The newest coverage of the configuration in the branch's last 20 comparable earlier integrations; `nil` if there is none.
    package var before: Before?

    package init(attempt: AttemptID, coverage: Coverage, before: Before? = nil) {
        self.attempt = attempt
        self.coverage = coverage
        self.before = before
    }

    package var delta: CoverageDelta? { before.map { CoverageDelta(from: $0.coverage, to: coverage) } }
}

extension Store {
    /// A coverage ready to be stored. It is encoded before the write transaction, so that the writer does not wait for compression.
    struct EncodedCoverage: Sendable {
        let coverage: Coverage
        let record: [UInt8]

        init?(_ coverage: Coverage?) throws {
            guard let coverage, !coverage.files.isEmpty else { return nil }
            self.coverage = coverage
            record = try CoverageRecord.bytes(of: coverage, Zstd())
        }
    }

    static func insert(_ encoded: EncodedCoverage, attempt: Int64, _ db: Database) throws {
        let coverage = encoded.coverage
        try db.change(
            "INSERT OR REPLACE INTO coverage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                attempt, coverage.files.count, coverage.lines.covered, coverage.lines.total,
                coverage.functions?.covered, coverage.functions?.total, coverage.branches?.covered,
                coverage.branches?.total, Data(encoded.record),
            ])
    }

    /// Returns the coverage of each job's latest processed attempt that has coverage, in the order of the jobs. Each one includes the previous
    /// coverage of the same configuration.
    /// - Parameters:
    ///   - attempt: The number of the processed attempt to use instead of the latest.
    ///   - configuration: If not `nil`, only this configuration is returned.
    /// - Throws: `corrupt` for a damaged record.
    package func coverage(
        of id: IntegrationID, attempt: Int? = nil, configuration: Name? = nil
    ) async throws(StoreError) -> [StoredCoverage] {
        try await read("read the coverage of \(id)") { db in
            let zstd = try Zstd()
            let found: [(row: Int64, attempt: AttemptID)] = try db.all(
                """
                SELECT attempts.id, job, attempts.attempt AS try FROM attempts
                WHERE \(Self.isMeant) AND (?4 IS NULL OR job = ?4) AND attempts.id IN (SELECT attempt FROM coverage)
                ORDER BY attempts.id
                """,
                [id.bot.description, id.number, attempt, configuration?.description]
            ) { (try $0["id"], AttemptID(integration: id, job: try $0.name("job"), attempt: try $0["try"])) }
            return try found.map { row, attempt in
                var stored = StoredCoverage(attempt: attempt, coverage: try Self.coverage(of: row, zstd, db))
                if let before = try Self.covered(before: attempt, db) {
                    stored.before = .init(
                        integration: before.integration, coverage: try Self.coverage(of: before.row, zstd, db))
                }
                return stored
            }
        }
    }

    private static func coverage(of attempt: Int64, _ zstd: Zstd, _ db: Database) throws -> Coverage {
        let bytes: [UInt8]? = try db.first("SELECT record FROM coverage WHERE attempt = ?", [attempt]) {
            [UInt8](try $0["record"] as Data)
        }
        do {
            return try CoverageRecord.coverage(bytes ?? [], zstd)
        } catch is RecordReader.Damaged {
            throw Refusal(
                code: .corrupt,
                message:
                    "the coverage of attempt row \(attempt) contains values that Martlet never writes; stop the daemon and "
                    + "restore a backup")
        }
    }

    /// Returns the attempt whose coverage is compared with that of attempt `id`: see `earlierTests(before:configuration:)`.
    private static func covered(
        before id: AttemptID, _ db: Database
    ) throws -> (row: Int64, integration: IntegrationID)? {
        try db.first(
            """
            SELECT attempts.id, earlier.number FROM attempts JOIN (
                SELECT * FROM (SELECT integrations.id, number FROM integrations JOIN bots ON bots.id = bot
                WHERE name = ?1 AND number < ?2 AND state = 'completed' AND removed_at IS NULL
                AND verdict NOT IN ('canceled', 'checkout-error', 'internal-error')
                AND ref = (SELECT coalesce(base, ref) FROM integrations JOIN bots ON bots.id = bot WHERE name = ?1 AND number = ?2)
                ORDER BY number DESC LIMIT \(maximumLookBack))
                UNION ALL SELECT parent.id, parent.number FROM integrations AS own JOIN bots ON bots.id = own.bot
                JOIN integrations AS parent ON parent.bot = own.bot AND parent.number = own.parted_from
                WHERE name = ?1 AND own.number = ?2 AND parent.removed_at IS NULL
            ) AS earlier ON earlier.id = integration
            WHERE job = ?3 AND state = 'processed' AND attempts.id IN (SELECT attempt FROM coverage)
            ORDER BY integration DESC, attempt DESC LIMIT 1
            """,
            [id.integration.bot.description, id.integration.number, id.job.description]
        ) { (try $0["id"], IntegrationID(bot: id.integration.bot, number: try $0["number"])) }
    }
}
