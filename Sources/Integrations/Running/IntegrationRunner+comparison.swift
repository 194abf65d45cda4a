import Issues
import Logging
import Model
import SourceControl
import Storage

extension IntegrationRunner {
    /// Returns the issues of an integration that ended after the triggers that run before its jobs. No job has run, so the earlier issues remain:
    /// those of the runs before this one, or of the branch's previous integration.
    func compareTriggers(
        _ record: IntegrationRecord, bot: BotSpecification, mirror: Mirror
    ) async throws -> ComparedIssues {
        var newest: [Name: AttemptRecord] = [:]
        for attempt in try await store.attempts(of: record.id) where attempt.state.verdict != nil {
            newest[attempt.id.job] = attempt
        }
        if !newest.isEmpty {
            return try await compare(
                record, bot: bot, mirror: mirror, attempts: newest.values.sorted { $0.id.job < $1.id.job })
        }
        var issues = IssueComparison(
            configurations: [], triggers: try await store.triggers(of: record.id).newest,
            triggerNames: bot.triggers.map(\.name))
        issues.hasLookedAtCode = false
        return try await compare(record, issues, with: try await issuesBefore(record), mirror: mirror, tested: 0)
    }

    /// The integration that another one is compared with, and its unresolved issues.
    typealias Before = (integration: IntegrationRecord?, issues: [Issue])

    func issuesBefore(_ record: IntegrationRecord) async throws -> Before {
        guard let previous = try await store.compared(with: record.id) else { return (nil, []) }
        return (previous, try await store.openIssues(of: previous.id))
    }

    /// The most commits of a new branch's history in which the one where it left its parent is searched.
    static let maximumHistory = 10_000

    /// Stores where a new branch left its parent: the nearest commit of its history that the bot has integrated. The branch's first integration is
    /// compared with that one. If git fails, it is compared with none.
    func recordParting(of record: IntegrationRecord, _ mirror: Mirror) async throws {
        let parents = try await store.parents(of: record.id)
        guard !parents.isEmpty else { return }
        let parent: CommitID?
        do throws(SourceControlError) {
            parent = try await mirror.newestAncestor(
                of: record.commit, among: Set(parents.keys), limit: Self.maximumHistory)
        } catch {
            if error.code == .canceled || Task.isCancelled { throw CancellationError() }
            logger.warning(
                "where a branch began is not known", metadata: ["integration": "\(record.id)", "error": "\(error)"])
            return
        }
        if let number = parent.flatMap({ parents[$0] }) {
            try await store.recordParting(of: record.id, from: number)
        }
    }

    /// Returns the integration's issues and counts, compared with the branch's previous integration.
    /// - Parameter introductions: Who introduced each issue, by fingerprint, as found before the triggers ran; `nil` if it was not searched yet.
    func compare(
        _ record: IntegrationRecord, bot: BotSpecification, mirror: Mirror, attempts: [AttemptRecord],
        introductions: [String: Introduction]? = nil
    ) async throws -> ComparedIssues {
        let before = try await issuesBefore(record)
        let tests = try await store.testsRun(of: record.id, named: IssueComparison.tests(of: before.issues))
        var issues = IssueComparison(
            configurations: [], triggers: try await store.triggers(of: record.id).newest,
            triggerNames: bot.triggers.map(\.name))
        for attempt in attempts {
            let configuration = record.recipe?.configurations.first { $0.name == attempt.id.job }
            issues.configurations.append(
                .init(
                    name: attempt.id.job, steps: attempt.steps, findings: try await store.findings(of: attempt.id),
                    tests: tests[attempt.id.job] ?? TestsRun(), testsNothing: configuration?.testsNothing == true,
                    mayTestNothing: configuration.map { record.recipe?.mayTestNothing($0) == true } ?? false))
        }
        let tested = attempts.reduce(0) { $0 + ($1.summary?.counts.tests ?? 0) }
        var comparison = try await compare(
            record, issues, with: before, mirror: mirror, tested: tested, introductions: introductions)
        comparison.summary.tally = try await store.testTally(of: record.id)
        return comparison
    }

    /// Returns the issues, compared with those of the previous integration.
    /// - Parameters:
    ///   - compared: What was found, and what was searched.
    ///   - before: The previous integration and its issues.
    ///   - tested: The number of tests that ran.
    func compare(
        _ record: IntegrationRecord, _ compared: IssueComparison, with before: Before, mirror: Mirror, tested: Int,
        introductions: [String: Introduction]? = nil
    ) async throws -> ComparedIssues {
        let (previous, before) = before
        let history = IssueHistory(mirror: mirror, from: previous?.commit, to: record.commit, logger: logger)
        let current = compared.current
        let changes = try await history.changes(current: current, before: before)
        var issues = compared.issues(current, before: before, changes: changes, number: record.id.number)
        if findsSuspects { try await history.introduce(&issues, known: introductions) }
        let silences = try await store.silences(for: record.id)
        // This also applies if there is no silence: a revoked one may still be set at the issue of the previous integration.
        issues.silence(by: silences, at: clock.now())
        let counts = Counts(issues, tests: tested)
        let summary = Summary(
            counts: counts, change: previous?.summary.map { counts - $0.counts } ?? Counts())
        return ComparedIssues(issues: issues, summary: summary, isUntested: compared.isUntested)
    }
}
