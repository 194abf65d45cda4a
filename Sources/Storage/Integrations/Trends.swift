import GRDB
package import Model

/// A completed integration as a point of a bot's plots.
package struct TrendPoint: Hashable, Sendable {
    package var number: Int
    package var commit: CommitID
    package var result: IntegrationResult
    package var queuedAt: Timestamp
    /// When it began; `nil` if it ended in the queue.
    package var startedAt: Timestamp?
    package var endedAt: Timestamp?
    /// The counts of issues and tests; `nil` if it ended before they were known.
    package var summary: Summary?
    /// The lines that tests executed, of all configurations together; `nil` without coverage.
    package var coveredLines: Int?
    /// All lines of all configurations; `nil` without coverage.
    package var lines: Int?

    /// The time from its start to its end.
    package var duration: Duration? {
        guard let startedAt, let endedAt else { return nil }
        return endedAt - startedAt
    }
    /// The time that it waited in the queue.
    package var waited: Duration? { startedAt.map { $0 - queuedAt } }
    /// The covered part of all lines, from 0 to 100.
    package var coverage: Double? {
        guard let coveredLines, let lines, lines > 0 else { return nil }
        return Double(coveredLines) * 100 / Double(lines)
    }
}

/// How long a step of a configuration usually takes.
package struct UsualStep: Hashable, Sendable {
    package var configuration: Name
    package var step: JobStep
    package var name: String
    /// The median over the integrations that ran it.
    package var median: Duration
    package var runs: Int
}

extension Store {
    /// The number of integrations of plots.
    package static let trendLength = 100
    /// The number of newest integrations whose steps are read.
    package static let stepWindow = 20

    /// The conditions for the integrations of a bot's plots: completed ones that judged the code, of one ref or of all branches and tags.
    private static func isInTrend(ofRef: Bool) -> String {
        """
        integrations.bot = (SELECT id FROM bots WHERE name = ?1)
            AND \(ofRef ? "ref = ?2" : "pull_request IS NULL AND ?2 IS NULL") AND integrations.state = 'completed'
            AND integrations.is_skipped = 0 AND integrations.verdict <> 'canceled' AND integrations.removed_at IS NULL
        """
    }

    /// - Parameter ofRef: Whether the second argument is a ref, so that its index is used; otherwise it is NULL.
    static func trendQuery(ofRef: Bool) -> String {
        """
        SELECT number, "commit", verdict, trigger_failed, queued_at, started_at, ended_at, summary,
            (SELECT sum(lines_covered) FROM coverage WHERE attempt IN (SELECT max(id) FROM attempts
                WHERE integration = integrations.id AND attempts.state = 'processed' GROUP BY job)) AS covered,
            (SELECT sum(lines_total) FROM coverage WHERE attempt IN (SELECT max(id) FROM attempts
                WHERE integration = integrations.id AND attempts.state = 'processed' GROUP BY job)) AS lines
        FROM integrations WHERE \(isInTrend(ofRef: ofRef)) ORDER BY number DESC LIMIT ?3
        """
    }

    /// Returns the newest completed integrations of a bot that judged the code, the oldest first; at most `trendLength`.
    /// - Parameter ref: The branch or tag; `nil` for all of them, without pull requests.
    package func trend(of bot: Name, ref: RefName?) async throws(StoreError) -> [TrendPoint] {
        try await read("read the trend of \(bot)") { db in
            try db.all(Self.trendQuery(ofRef: ref != nil), [bot.description, ref?.description, Self.trendLength]) {
                row in
                let verdict: Verdict = try row.value("verdict") { Verdict(rawValue: $0) }
                return TrendPoint(
                    number: try row["number"], commit: try row.value("commit") { CommitID($0) },
                    result: IntegrationResult(verdict: verdict, triggerFailed: try row["trigger_failed"]),
                    queuedAt: try row.time("queued_at"), startedAt: try row.optionalTime("started_at"),
                    endedAt: try row.optionalTime("ended_at"), summary: try row.summary("summary"),
                    coveredLines: try row["covered"], lines: try row["lines"])
            }.reversed()
        }
    }

    static func usualStepsQuery(ofRef: Bool) -> String {
        """
        SELECT job, steps.step AS step, steps.name AS name, steps.ended_at - steps.started_at AS took
        FROM (SELECT id FROM integrations WHERE \(isInTrend(ofRef: ofRef)) ORDER BY number DESC LIMIT \(stepWindow)) AS shown
        CROSS JOIN attempts ON attempts.integration = shown.id CROSS JOIN steps ON steps.attempt = attempts.id
        WHERE attempts.state = 'processed' AND steps.ended_at IS NOT NULL
        """
    }

    /// Returns the steps that usually take longest in the bot's `stepWindow` newest integrations, the longest first.
    /// - Parameters:
    ///   - ref: The branch or tag; `nil` for all of them, without pull requests.
    ///   - limit: The most steps.
    package func slowestSteps(
        of bot: Name, ref: RefName?, limit: Int
    ) async throws(StoreError) -> [UsualStep] {
        struct Key: Hashable {
            var job: Name
            var step: JobStep
            var name: String
        }
        return try await read("read the slowest steps of \(bot)") { db in
            var durations: [Key: [Duration]] = [:]
            let _: [Void] = try db.all(Self.usualStepsQuery(ofRef: ref != nil), [bot.description, ref?.description]) {
                row in
                let key = Key(
                    job: try row.name("job"), step: try row.value("step") { JobStep(rawValue: $0) },
                    name: try row["name"])
                durations[key, default: []].append(.milliseconds(try row["took"] as Int64))
            }
            let steps = durations.compactMap { key, all in
                all.median.map {
                    UsualStep(
                        configuration: key.job, step: key.step, name: key.name, median: $0, runs: all.count)
                }
            }
            return Array(
                steps.sorted { ($1.median, $0.configuration, $0.name) < ($0.median, $1.configuration, $1.name) }
                    .prefix(limit))
        }
    }
}
