import Model
import SourceControl
import Storage

extension IntegrationRunner {
    /// What triggers before the jobs came to. Nothing else was looked for, so what was there before remains: what the runs
    /// before this one found, or the branch's integration before.
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

    /// The branch's integration before, and its issues without resolved ones.
    typealias Before = (integration: IntegrationRecord?, issues: [Issue])

    func issuesBefore(_ record: IntegrationRecord) async throws -> Before {
        guard let previous = try await store.previous(of: record.id) else { return (nil, []) }
        return (previous, try await store.openIssues(of: previous.id))
    }

    /// The integration's issues and counts, compared with the branch's integration before.
    /// - Parameter introductions: Who introduced what, as it was found before its triggers ran; `nil` if nobody has searched yet.
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

    /// An integration's issues, with what is counted of them.
    struct Comparison {
        var issues: [Issue]
        var summary: Summary
        /// See `IssueComparison.isUntested`.
        var isUntested = false
        /// Who introduced the issues of which that is known, by fingerprint.
        var introductions: [String: Introduction] {
            var introductions: [String: Introduction] = [:]
            for issue in issues { introductions[issue.fingerprint] = issue.introducedBy }
            return introductions
        }
        var hasTriggerErrors: Bool { issues.contains { $0.finding.category == .triggerError } }

        /// The verdict without silenced warnings, and the sentence that says so. Only what is there and silenced makes it
        /// better: errors and failing tests stay what they are.
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
            return (judged, judged < verdict ? "\(silenced.counting("silenced issue")) not counted" : nil)
        }
    }

    /// - Parameters:
    ///   - compared: What was found, and what was looked for.
    ///   - before: What it is compared with.
    ///   - tested: How many tests ran.
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
        // Also where there is none: one that was taken back may still stand at the issue of before.
        issues.silence(by: silences, at: clock.now())
        let counts = Counts(issues, tests: tested)
        let summary = Summary(
            counts: counts, change: previous?.summary.map { counts - $0.counts } ?? Counts())
        return Comparison(issues: issues, summary: summary, isUntested: compared.isUntested)
    }
}

extension [Issue] {
    /// Heeds silences; those that have expired are only told of.
    mutating func silence(by silences: [String: Silence], at time: Timestamp) {
        for index in indices where self[index].status != .resolved {
            self[index].silence = silences[self[index].fingerprint]
            if self[index].silence?.holds(at: time) == true { self[index].status = .silenced }
        }
    }
}

extension Counts {
    /// Counts issues that are there, but not silenced warnings.
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
