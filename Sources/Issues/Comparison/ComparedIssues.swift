package import Model

/// An integration's issues, and the counts of them.
package struct ComparedIssues: Sendable {
    package var issues: [Issue]
    package var summary: Summary
    /// See `IssueComparison.isUntested`.
    package var isUntested: Bool

    package init(issues: [Issue], summary: Summary, isUntested: Bool = false) {
        (self.issues, self.summary, self.isUntested) = (issues, summary, isUntested)
    }

    /// Who introduced each issue, by fingerprint. Issues for which that is unknown are missing.
    package var introductions: [String: Introduction] {
        var introductions: [String: Introduction] = [:]
        for issue in issues { introductions[issue.fingerprint] = issue.introducedBy }
        return introductions
    }
    package var hasTriggerErrors: Bool { issues.contains { $0.finding.category == .triggerError } }

    /// Returns the verdict without muted warnings, and the sentence that states so; the sentence is `nil` if the verdict does not change. Only
    /// muted warnings improve it: errors and failing tests stay what they are.
    package func judged(_ verdict: Verdict) -> (verdict: Verdict, reason: String?) {
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

extension [Issue] {
    /// Applies silences to the issues. An expired silence is only recorded, and does not change the status.
    package mutating func silence(by silences: [String: Silence], at time: Timestamp) {
        for index in indices where self[index].status != .resolved {
            self[index].silence = silences[self[index].fingerprint]
            if self[index].silence?.holds(at: time) == true { self[index].status = .silenced }
        }
    }
}

extension Counts {
    /// Counts the unresolved issues, without muted warnings.
    package init(_ issues: [Issue], tests: Int) {
        self.init()
        self.tests = tests
        for issue in issues where issue.counts { add(issue.finding) }
    }

    /// Counts a finding.
    package mutating func add(_ finding: Finding) {
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
