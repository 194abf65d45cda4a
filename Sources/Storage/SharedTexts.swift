import Model

/// Lets findings with the same texts share one copy: of 100,000 findings, most have one of a few rules, and files have several each.
final class SharedTexts {
    private var texts: Set<String> = []
    /// The most texts that are remembered. What comes later keeps its own copy.
    private static let limit = 10_000

    /// Replaces a finding's rule, path and message by equal ones of findings before it.
    func share(_ finding: inout Finding) {
        finding.rule = shared(finding.rule)
        finding.path = finding.path.map(shared)
        finding.message = shared(finding.message)
    }

    private func shared(_ text: String) -> String {
        // Shorter ones have no memory of their own.
        if text.utf8.count <= 15 { return text }
        if let index = texts.firstIndex(of: text) { return texts[index] }
        if texts.count < Self.limit { texts.insert(text) }
        return text
    }
}
