import Foundation
package import Model

/// Writes an integration's issues as SARIF 2.1.0 (OASIS standard, errata 01), for other tools: `beginning`, the results piece by piece, then
/// `end`. So a log of 25,000 issues is never in memory as a whole.
///
/// One run with a result for each issue, in their order; without issues an empty list, which says that all was looked at.
///
/// `baselineState` is against the branch's integration before: `new`, `unchanged`, or `absent` for resolved ones. Silenced
/// ones are `unchanged` with an external suppression. Paths are URIs relative to `%SRCROOT%`. The same issues give the
/// same bytes.
package struct SARIFWriter: Sendable {
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

    private let origin: Origin
    private let isWhole: Bool
    private var rules: [String] = []
    private var indexes: [String: Int] = [:]
    private var hasResults = false

    /// - Parameter isWhole: False: there are more issues, and the log says so.
    package init(origin: Origin, isWhole: Bool = true) { (self.origin, self.isWhole) = (origin, isWhole) }

    /// What stands before the results.
    package var beginning: [UInt8] { parts.beginning }

    /// What stands after them.
    package var end: [UInt8] { parts.end }

    /// The results for the issues that come next.
    package mutating func results(_ issues: [Issue]) -> [UInt8] {
        var bytes: [UInt8] = []
        for issue in issues {
            let id = Self.rule(of: issue.finding)
            let index = indexes[id] ?? rules.count
            if indexes[id] == nil {
                indexes[id] = index
                rules.append(id)
            }
            if hasResults { bytes.append(UInt8(ascii: ",")) }
            hasResults = true
            bytes += Self.encoded(SARIFOutput.Result(issue, rule: id, index: index))
        }
        return bytes
    }

    /// A whole log.
    package static func bytes(_ issues: [Issue], isWhole: Bool = true, origin: Origin) -> [UInt8] {
        var writer = SARIFWriter(origin: origin, isWhole: isWhole)
        let results = writer.results(issues)
        return writer.beginning + results + writer.end
    }

    /// The log without results, cut where they belong. Keys are sorted, so the rules, which are known last, stand after them.
    private var parts: (beginning: [UInt8], end: [UInt8]) {
        let provenance = origin.repository.map {
            [SARIFOutput.Provenance(repositoryUri: $0, revisionId: origin.commit, branch: origin.branch)]
        }
        let notice = SARIFOutput.Notification(
            message: .init(text: "There are more issues than these; the integration's page has all of them."))
        let log = Self.encoded(
            SARIFOutput(runs: [
                .init(
                    tool: .init(
                        driver: .init(name: "Martlet", version: origin.version, rules: rules.map { .init(id: $0) })),
                    automationDetails: .init(id: origin.automation), versionControlProvenance: provenance, results: [],
                    invocations: isWhole ? nil : [.init(toolExecutionNotifications: [notice])])
            ]))
        // No string has these bytes: a quotation mark in one is escaped.
        guard let list = log.firstRange(of: Array("\"results\":[".utf8)) else { return ([], []) }
        return (Array(log[..<list.upperBound]), Array(log[list.upperBound...]))
    }

    private static func encoded(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // What it is made of are texts and whole numbers, which always can be encoded.
        guard let data = try? encoder.encode(value) else { return [] }
        return Array(data)
    }

    /// A result needs one: what has none is told by its kind.
    private static func rule(of finding: Finding) -> String {
        finding.rule.isEmpty || finding.category == .testFailure ? finding.category.rawValue : finding.rule
    }
}
