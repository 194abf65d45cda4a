import Foundation
package import Model

/// Writes an integration's issues as SARIF 2.1.0 (OASIS standard, errata 01), for other tools.
package enum SARIFWriter {
    /// Where the issues come from.
    package struct Origin: Sendable, Hashable {
        /// Of this program: `1.2.3`.
        package var version: String
        /// What tells one series of runs from others, and this run in it: `kit/main/17`.
        package var automation: String
        /// The repository's address; nothing when it must not be told.
        package var repository: String?
        package var commit: String?
        package var branch: String?

        package init(
            version: String, automation: String, repository: String? = nil, commit: String? = nil, branch: String? = nil
        ) {
            self.version = version
            self.automation = automation
            self.repository = repository
            self.commit = commit
            self.branch = branch
        }
    }

    /// One run with a result for each issue, in their order; without issues an empty list, which says that all was looked at.
    ///
    /// `baselineState` is against the branch's integration before: `new`, `unchanged`, or `absent` for resolved ones. Silenced
    /// ones are `unchanged` with an external suppression. Paths are URIs relative to `%SRCROOT%`. The same issues give the
    /// same bytes.
    /// - Parameter isWhole: False: there are more issues, and the log says so.
    package static func bytes(_ issues: [Issue], isWhole: Bool = true, origin: Origin) -> [UInt8] {
        var rules: [String] = []
        var indexes: [String: Int] = [:]
        let results = issues.map { issue in
            let id = rule(of: issue.finding)
            let index = indexes[id] ?? rules.count
            if indexes[id] == nil {
                indexes[id] = index
                rules.append(id)
            }
            return SARIFOutput.Result(issue, rule: id, index: index)
        }
        let provenance = origin.repository.map {
            [SARIFOutput.Provenance(repositoryUri: $0, revisionId: origin.commit, branch: origin.branch)]
        }
        let notice = SARIFOutput.Notification(
            message: .init(text: "There are more issues than these; the integration's page has all of them."))
        let log = SARIFOutput(runs: [
            .init(
                tool: .init(
                    driver: .init(name: "Martlet", version: origin.version, rules: rules.map { .init(id: $0) })),
                automationDetails: .init(id: origin.automation), versionControlProvenance: provenance, results: results,
                invocations: isWhole ? nil : [.init(toolExecutionNotifications: [notice])])
        ])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // What it is made of are texts and whole numbers, which always can be encoded.
        guard let data = try? encoder.encode(log) else { return [] }
        return Array(data)
    }

    /// A result needs one: what has none is told by its kind.
    private static func rule(of finding: Finding) -> String {
        finding.rule.isEmpty || finding.category == .testFailure ? finding.category.rawValue : finding.rule
    }
}
