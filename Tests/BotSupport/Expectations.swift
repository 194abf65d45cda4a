package import Model
package import Storage
package import Testing

/// How a step of a job came out.
package enum StepOutcome: String, Sendable {
    case succeeded, failed
    /// A signal ended it.
    case crashed
    /// One of its limits did.
    case stopped
    /// It began and did not end.
    case unfinished
    /// It never began.
    case skipped
}

/// Expects steps to have come out so. Steps that are not named may have come out anyhow.
/// - Parameter configuration: Nothing: every configuration; of several, the worst counts.
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

/// Expects an integration's result, `trigger-error` among them, in the interface's word.
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

/// Expects just these issues, each written `status category path:line: message`, the place left out where there is none, in any
/// order. A line of several lines is compared by its first.
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

/// Expects triggers to have come out so; triggers that are not named must have no row.
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
