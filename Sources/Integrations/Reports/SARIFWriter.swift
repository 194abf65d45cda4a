import Foundation
package import Model

/// Writes an integration's issues as SARIF 2.1.0 (OASIS standard, errata 01), for other tools: `beginning`, the results in pieces, then `end`. A log
/// of 25,000 issues is never in memory as a whole.
///
/// The log has one run with a result for each issue, in their order. Without issues the list of results is empty, which states that everything was
/// checked.
///
/// `baselineState` is relative to the branch's previous integration: `new`, `unchanged`, or `absent` for resolved issues. Muted issues are
/// `unchanged` with an external suppression. Paths are URIs relative to `%SRCROOT%`. The same issues give the same bytes.
package struct SARIFWriter: Sendable {
    /// The origin of the issues.
    package struct Origin: Sendable, Hashable {
        /// The version of this program: `1.2.3`.
        package var version: String
        /// Distinguishes one series of runs from others, and this run in it: `kit/main/17`.
        package var automation: String
        /// The repository's URL; `nil` if it must not be shown.
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

    /// - Parameter isWhole: If false, there are more issues, and the log states that.
    package init(origin: Origin, isWhole: Bool = true) { (self.origin, self.isWhole) = (origin, isWhole) }

    /// The bytes before the results.
    package var beginning: [UInt8] { parts.beginning }

    /// The bytes after the results.
    package var end: [UInt8] { parts.end }

    /// Returns the results for the next issues.
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

    /// The log without results, split where they belong. Keys are sorted, so the rules come after the results; they are known only at the end.
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
        // No string contains these bytes: a quotation mark in a string is escaped.
        guard let list = log.firstRange(of: Array("\"results\":[".utf8)) else { return ([], []) }
        return (Array(log[..<list.upperBound]), Array(log[list.upperBound...]))
    }

    private static func encoded(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // The value consists of texts and integers, which can always be encoded.
        guard let data = try? encoder.encode(value) else { return [] }
        return Array(data)
    }

    /// Returns the rule of a finding; a finding without one is named by its kind.
    private static func rule(of finding: Finding) -> String {
        finding.rule.isEmpty || finding.category == .testFailure ? finding.category.rawValue : finding.rule
    }
}
