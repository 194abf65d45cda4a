package import Model
package import Storage
package import Testing

/// The outcome of a job's step.
package enum StepOutcome: String, Sendable {
    case succeeded, failed
    /// A signal ended the step.
    case crashed
    /// A limit ended the step.
    case stopped
    /// The step began and did not end.
    case unfinished
    /// The step never began.
    case skipped
}

/// Expects the outcomes of steps. Steps that are not named may have any outcome.
/// - Parameter configuration: The configuration; `nil` for all, of which the worst counts.
package func expectSteps(
    of integration: Integrated, _ expected: [JobStep: StepOutcome], in configuration: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let names = Set(integration.attempts.map(\.id.job.description)).filter {
        configuration == nil || $0 == configuration
    }
    if names.isEmpty {
        Testing.Issue.record(
            "\(integration.id) ran no configuration \(configuration ?? "")", sourceLocation: sourceLocation)
    }
    let steps = names.flatMap { integration.attempt($0)?.steps ?? [] }
    let differences = expected.sorted { $0.key < $1.key }.compactMap { step, wanted -> String? in
        let outcomes = steps.filter { $0.step == step }.map(outcome)
        let worst = [.unfinished, .stopped, .crashed, .failed, .succeeded].first(where: outcomes.contains) ?? .skipped
        return worst == wanted ? nil : "\(step.rawValue) \(worst.rawValue), expected \(wanted.rawValue)"
    }
    report(differences, of: integration, sourceLocation)
}

private func outcome(of step: StepRecord) -> StepOutcome {
    if step.endedAt == nil { return .unfinished }
    if step.limit != nil { return .stopped }
    if step.signal != nil { return .crashed }
    return step.exit == 0 ? .succeeded : .failed
}

/// Expects an integration's result, such as `trigger-error`, in the API's word.
package func expectResult(
    of integration: Integrated, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
) {
    if integration.result != expected {
        report(["\(integration.result), expected \(expected)"], of: integration, sourceLocation)
    }
}

/// Expects an integration's verdict, and its reason to contain a text.
package func expectVerdict(
    of integration: Integrated, _ expected: Verdict, because reason: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    var differences: [String] = []
    if integration.verdict != expected {
        differences.append("\(integration.verdict?.rawValue ?? "none"), expected \(expected.rawValue)")
    }
    if let reason, !(integration.record.reason ?? "").contains(reason) {
        differences.append("the reason has no \"\(reason)\"")
    }
    report(differences, of: integration, sourceLocation)
}

/// Expects exactly these issues in any order. Each is written `status category path:line: message`, without the place if there is none. Of a
/// message with several lines the first is compared.
package func expectIssues(
    of integration: Integrated, _ expected: [String], sourceLocation: SourceLocation = #_sourceLocation
) {
    var missing = expected
    var others: [String] = []
    for issue in integration.issues {
        let place = [issue.finding.path, issue.finding.line.map(String.init)].compactMap(\.self).joined(separator: ":")
        let message = issue.finding.message.split(separator: "\n").first.map(String.init) ?? ""
        let line =
            "\(issue.status.rawValue) \(issue.finding.category.rawValue) " + (place.isEmpty ? "" : place + ": ")
            + message
        if let index = missing.firstIndex(of: line) { missing.remove(at: index) } else { others.append(line) }
    }
    report(
        missing.map { "missing issue: \($0)" } + others.map { "unexpected issue: \($0)" }, of: integration,
        sourceLocation)
}

/// Expects the outcomes of triggers. Triggers that are not named must have no row.
package func expectTriggers(
    of integration: Integrated, _ expected: [String: TriggerState], sourceLocation: SourceLocation = #_sourceLocation
) {
    let actual = Dictionary(integration.triggers.map { ($0.trigger.description, $0) }) { $1 }
    let differences = Set(actual.keys).union(expected.keys).sorted().compactMap { name -> String? in
        guard actual[name]?.state != expected[name] else { return nil }
        let reason = actual[name]?.reason.map { " (\($0))" } ?? ""
        return "trigger \(name) \(actual[name]?.state.rawValue ?? "not there")\(reason), expected "
            + (expected[name]?.rawValue ?? "not there")
    }
    report(differences, of: integration, sourceLocation)
}

private func report(_ differences: [String], of integration: Integrated, _ sourceLocation: SourceLocation) {
    guard !differences.isEmpty else { return }
    let attempts = integration.attempts.map { attempt in
        "  \(attempt.id.job) \(attempt.id.attempt): \(attempt.state) \(attempt.reason ?? "")"
    }
    Testing.Issue.record(
        """
        \(integration.id): \(differences.joined(separator: "; "))
          \(integration.result): \(integration.record.reason ?? "no reason")
        \(attempts.joined(separator: "\n"))
        """, sourceLocation: sourceLocation)
}
