import Model

/// A set of texts of which equal ones of several findings share one copy. Most of 100,000 findings have one of a few rules, and a file usually has
/// several findings.
final class SharedTexts {
    private var texts: Set<String> = []
    /// The most texts that are shared. Later texts keep their own copy.
    private static let limit = 10_000

    /// Replaces a finding's rule, path and message with equal texts of earlier findings.
    func share(_ finding: inout Finding) {
        finding.rule = shared(finding.rule)
        finding.path = finding.path.map(shared)
        finding.message = shared(finding.message)
    }

    private func shared(_ text: String) -> String {
        // Strings of at most 15 bytes are stored inline and need no memory of their own.
        if text.utf8.count <= 15 { return text }
        if let index = texts.firstIndex(of: text) { return texts[index] }
        if texts.count < Self.limit { texts.insert(text) }
        return text
    }
}
