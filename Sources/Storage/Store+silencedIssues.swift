import GRDB
package import Model

extension Store {
    /// In how many branches' newest integrations silenced issues are looked for, the newest ones first.
    private static let lookedBranches = 200

    /// A bot's silences, the newest first, those that expired lately among them.
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
