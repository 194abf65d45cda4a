import GRDB
package import Model

extension Store {
    /// The most branches whose newest integrations are searched for silenced issues, newest first.
    private static let lookedBranches = 200

    /// Returns a bot's silences, newest first, including recently expired ones.
    package func silencedIssues(of bot: Name) async throws(StoreError) -> [SilencedIssue] {
        let silences = try await silences(of: bot)
        guard !silences.isEmpty else { return [] }
        let shown = try await read("read the silenced issues of \(bot)") { db in
            let found: [(fingerprint: String, shown: SilencedIssue.Shown)] = try db.all(
                """
                SELECT issues.*, number, ref FROM issues JOIN integrations ON integrations.id = integration
                    AND integrations.issue_set = issues.issue_set
                WHERE integration IN (
                    SELECT id FROM integrations WHERE (bot, ref, number) IN (
                        SELECT bot, ref, max(number) FROM integrations
                        WHERE bot = (SELECT id FROM bots WHERE name = ?1) AND state = 'completed'
                            AND pull_request IS NULL AND removed_at IS NULL GROUP BY bot, ref
                        ORDER BY max(number) DESC LIMIT \(Self.lookedBranches)))
                AND fingerprint IN (SELECT fingerprint FROM silences WHERE bot = (SELECT id FROM bots WHERE name = ?1))
                ORDER BY status = 'resolved', number DESC
                """, [bot.description]
            ) { row in
                (
                    try row["fingerprint"],
                    SilencedIssue.Shown(
                        integration: IntegrationID(bot: bot, number: try row["number"]), ref: try row.ref("ref"),
                        finding: try Self.finding(row), isResolved: try row["status"] as String == "resolved")
                )
            }
            return Dictionary(found.map { ($0.fingerprint, $0.shown) }) { first, _ in first }
        }
        return silences.map { SilencedIssue(fingerprint: $0.key, silence: $0.value, issue: shown[$0.key]) }
            .sorted { ($1.silence.at, $0.fingerprint) < ($0.silence.at, $1.fingerprint) }
    }
}
