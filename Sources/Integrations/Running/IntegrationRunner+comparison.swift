import Model
import SourceControl
import Storage

extension IntegrationRunner {
    /// Returns the issues of an integration that ended after the triggers that run before its jobs. No job has run, so the earlier issues remain:
    /// those of the runs before this one, or of the branch's previous integration.
    func compareTriggers(
        _ record: IntegrationRecord, bot: BotSpecification, mirror: Mirror
    ) async throws -> Comparison {
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
    ) async throws -> Comparison {
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
        return try await compare(
            record, issues, with: before, mirror: mirror, tested: tested, introductions: introductions)
    }

    /// An integration's issues, and the counts of them.
    struct Comparison {
        var issues: [Issue]
        var summary: Summary
        /// See `IssueComparison.isUntested`.
        var isUntested = false
        /// Who introduced each issue, by fingerprint. Issues for which that is unknown are missing.
        var introductions: [String: Introduction] {
            var introductions: [String: Introduction] = [:]
            for issue in issues { introductions[issue.fingerprint] = issue.introducedBy }
            return introductions
        }
        var hasTriggerErrors: Bool { issues.contains { $0.finding.category == .triggerError } }

        /// Returns the verdict without muted warnings, and the sentence that states so; the sentence is `nil` if the verdict does not change. Only
        /// muted warnings improve it: errors and failing tests stay what they are.
        func judged(_ verdict: Verdict) -> (verdict: Verdict, reason: String?) {
            guard verdict == .warnings || verdict == .analyzerWarnings else { return (verdict, nil) }
            let silenced = issues.count { $0.status == .silenced && !$0.counts }
            guard silenced > 0 else { return (verdict, nil) }
            let rest = issues.filter(\.counts).map { issue -> Verdict in
                switch issue.finding.category {
                case .analyzerWarning: .analyzerWarnings
                case .warning: .warnings
                case .error, .testFailure, .triggerError: .succeeded
                }
            }
            let judged = min(verdict, rest.max() ?? .succeeded)
            return (judged, judged < verdict ? "\(silenced.counting("muted issue")) not counted" : nil)
        }
    }

    /// Returns the issues, compared with those of the previous integration.
    /// - Parameters:
    ///   - compared: What was found, and what was searched.
    ///   - before: The previous integration and its issues.
    ///   - tested: The number of tests that ran.
    func compare(
        _ record: IntegrationRecord, _ compared: IssueComparison, with before: Before, mirror: Mirror, tested: Int,
        introductions: [String: Introduction]? = nil
    ) async throws -> Comparison {
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
        return Comparison(issues: issues, summary: summary, isUntested: compared.isUntested)
    }
}

extension [Issue] {
    /// Applies silences to the issues. An expired silence is only recorded, and does not change the status.
    mutating func silence(by silences: [String: Silence], at time: Timestamp) {
        for index in indices where self[index].status != .resolved {
            self[index].silence = silences[self[index].fingerprint]
            if self[index].silence?.holds(at: time) == true { self[index].status = .silenced }
        }
    }
}

extension Counts {
    /// Counts the unresolved issues, without muted warnings.
    init(_ issues: [Issue], tests: Int) {
        self.init()
        self.tests = tests
        for issue in issues where issue.counts { add(issue.finding) }
    }

    mutating func add(_ finding: Finding) {
        if finding.flakyTest != nil { flakyTests += 1 }
        switch finding.category {
        case .error: errors += 1
        case .warning: warnings += 1
        case .analyzerWarning: analyzerWarnings += 1
        case .testFailure: testFailures += 1
        case .triggerError: break
        }
    }
}
