import GRDB
package import Model

extension Store {
    /// Returns the completed integrations whose result is the machine's or the repository's fault, oldest first. Superseded ones are left out, since
    /// a newer integration of their branch stands for them, and so are those of bots without a file.
    /// - Parameters:
    ///   - time: Only those that ended since then.
    ///   - bot: Only those of this bot; `nil` for all bots.
    package func machineFailures(
        since time: Timestamp, bot: Name?
    ) async throws(StoreError) -> [(id: IntegrationID, verdict: Verdict)] {
        try await read("read what failed by the machine's fault") { db in
            try db.all(
                """
                SELECT name, number, verdict FROM integrations JOIN bots ON bots.id = bot
                WHERE state = 'completed' AND verdict IN ('internal-error', 'checkout-error') AND ended_at >= ?1
                AND removed_at IS NULL AND superseded_by IS NULL AND is_retired = 0 AND (?2 IS NULL OR name = ?2)
                ORDER BY integrations.id
                """, [time.millisecondsSinceEpoch, bot?.description]
            ) { row in
                (
                    id: IntegrationID(bot: try row.name("name"), number: try row["number"]),
                    verdict: try row.value("verdict") { Verdict(rawValue: $0) }
                )
            }
        }
    }
}
