import Encodings
import Integrations
import JobProtocol
import Model
import Storage

extension Pages {
    /// The most errors and failing tests on an integration's page; a link leads to the others.
    static let maximumFailures = 25
    /// The most characters of a failure's name on its card.
    private static let maximumName = 200

    /// What the cards of failures show besides the issues.
    struct FailureContext: Sendable {
        let record: IntegrationRecord
        let attempts: [AttemptRecord]
        let links: IntegrationLinks
        let lines: LogLinks
        var excerpts: [SourcePlace: SourceExcerpt] = [:]
        var shares: [String: FailureShare] = [:]
    }

    /// Shows errors and failing tests as cards, then warnings by rule, then links to what is resolved and muted.
    func show(issues overview: IssueOverview, in context: FailureContext, _ view: inout ViewObject) async throws {
        let record = context.record
        var context = context
        let places = overview.failures.compactMap { Self.sourcePlace($0.finding) }
        context.excerpts = await site.operations.excerpts(of: record, at: places)
        let tests = overview.failures.filter { $0.finding.isOfTest }.map(\.finding.rule)
        context.shares = try await site.store.failureShares(of: tests, in: record)
        let href = Self.href(record.id)
        view["failures"] = .list(overview.failures.map { failure($0, context) })
        view["hasFailures"] = .flag(!overview.failures.isEmpty)
        let more = overview.failureCount - overview.failures.count
        view["moreFailures"] = .text(more > 0 ? more.grouped : nil)
        let warnings = overview.counts.filter { Self.isUnmutedWarning($0.status, $0.category) }
        view["warnings"] = .text(warnings.reduce(0) { $0 + $1.count }.grouped)
        view["hasWarnings"] = .flag(!overview.rules.isEmpty)
        let isShort = overview.rules.reduce(0) { $0 + $1.count } <= 3
        view["rules"] = .list(overview.rules.map { rule($0, context, isOpen: isShort) })
        view["hasMoreRules"] = .flag(!overview.hasAllRules)
        view["issuesHref"] = .text(href + "/issues")
        let other = [(Issue.Status.resolved, "resolved"), (.silenced, "muted")].compactMap { status, word in
            let (count, first) = (overview.count(of: status), Self.start(of: status, overview))
            return count == 0
                ? nil
                : ["text": .text("\(count.grouped) \(word)"), "href": .text("\(href)/issues?after=\(first)")]
                    as ViewObject
        }
        view["otherIssues"] = .list(other)
        view["hasOtherIssues"] = .flag(!other.isEmpty)
        view["noIssues"] = .text(
            record.summary == nil
                ? "No results yet: they are known when all configurations are done."
                : overview.failures.isEmpty && overview.rules.isEmpty ? "None." : nil)
    }

    private static func isUnmutedWarning(_ status: Issue.Status, _ category: Finding.Category) -> Bool {
        [.new, .unresolved].contains(status) && [.warning, .analyzerWarning].contains(category)
    }

    /// Returns the number of issues before those of a status on the page of all issues.
    private static func start(of status: Issue.Status, _ overview: IssueOverview) -> Int {
        Issue.Status.allCases.prefix { $0 != status }.reduce(0) { $0 + overview.count(of: $1) }
    }

    static func sourcePlace(_ finding: Finding) -> SourcePlace? {
        guard let path = finding.path, let line = finding.line else { return nil }
        return SourcePlace(path: path, line: line)
    }

    private func failure(_ issue: Issue, _ context: FailureContext) -> ViewObject {
        let (finding, record) = (issue.finding, context.record)
        let (title, rest) = Self.title(of: finding)
        let result = ResultView(finding.category)
        let excerpt = Self.sourcePlace(finding).flatMap { context.excerpts[$0] }
        var view: ViewObject = [
            "tone": .text(result.tone.rawValue), "icon": .html(result.icon), "category": .text(result.word),
            "name": .text(title.name), "suite": .text(title.suite), "message": .text(rest),
            "rule": .text(finding.isOfTest || finding.rule.isEmpty ? nil : finding.rule),
            "history": .text(finding.isOfTest ? Self.historyPath(finding.rule, of: record.id.bot) : nil),
            "isNew": .flag(issue.status == .new), "where": .text(Self.places(of: issue, in: record)),
            "place": .text(Self.place(finding)),
            "placeHref": .text(context.links.file(finding.path, line: finding.line)),
            "hasSource": .flag(excerpt != nil),
            "source": .list(excerpt.map { Self.lines($0, marking: finding.line) } ?? []),
            "logs": .list(logs(of: issue, context)), "hasLogs": .flag(!issue.configurations.isEmpty),
            "share": .text(context.shares[finding.rule].flatMap { Self.sentence($0, on: record.ref) }),
            "fingerprint": .text(issue.fingerprint.prefix(12)),
        ]
        view.merge(origin(of: issue, context))
        return view
    }

    /// Returns how long an issue has been there, who introduced it, and whether it is muted.
    func origin(of issue: Issue, _ context: FailureContext) -> ViewObject {
        let isMuted = issue.silence?.holds(at: site.clock()) ?? false
        let id = context.record.id
        let place = "/bots/\(id.bot)/integrations/\(id.number)/issues/\(issue.fingerprint)"
        return [
            "age": .text(Self.age(of: issue, in: context.record)),
            "sinceHref": .text(issue.age > 1 ? issue.since.map { "/bots/\(context.record.id.bot)/\($0)" } : nil),
            "introduced": .text(issue.introducedBy.map(Self.sentence)),
            "introducedHref": .text(issue.introducedBy.flatMap { context.links.commit($0.commit) }),
            "introducedCommit": .text(issue.introducedBy?.commit.abbreviated),
            "introducedWhy": .text(issue.introducedBy.map(Self.reason)),
            "silence": .text(issue.silence.map { Self.sentence($0, at: site.clock()) }),
            "mute": .text(isMuted || issue.status == .resolved ? nil : place + "/mute"),
            "unmute": .text(isMuted ? place + "/unmute" : nil),
        ]
    }

    /// Returns the name of a failure, and what its message says besides. A test is called by its name, an error by the first line of its message.
    static func title(of finding: Finding) -> (title: (suite: String?, name: String), message: String?) {
        if finding.isOfTest {
            let name = finding.flakyTest ?? finding.rule
            // Arguments and parameters of a test may contain slashes.
            let bare = name.prefix { $0 != "(" && $0 != "[" }
            guard let slash = bare.lastIndex(of: "/") else { return ((nil, name), finding.message) }
            return ((String(name[..<slash]), String(name[name.index(after: slash)...])), finding.message)
        }
        let first = finding.message.prefix { !$0.isNewline }
        let isShort = first.count <= maximumName && first.count < finding.message.count
        let name = first.count <= maximumName ? String(first) : first.prefix(maximumName - 1) + "…"
        if first.count > maximumName { return ((nil, name), finding.message) }
        return ((nil, name), isShort ? String(finding.message.dropFirst(first.count).drop { $0.isNewline }) : nil)
    }

    /// Returns in which configurations an issue is: `in debug and release`; `nil` if there is only one configuration.
    private static func places(of issue: Issue, in record: IntegrationRecord) -> String? {
        let all = record.recipe?.configurations.count ?? 0
        if all == 1 || issue.configurations.isEmpty { return nil }
        if issue.configurations.count == all {
            return all == 2 ? "in both configurations" : "in all \(all) configurations"
        }
        let names = issue.configurations.map(\.description)
        guard let last = names.last, names.count > 1 else { return "only in \(names.joined())" }
        return "in \(names.dropLast().joined(separator: ", ")) and \(last)"
    }

    private static func lines(_ excerpt: SourceExcerpt, marking line: Int?) -> [ViewObject] {
        excerpt.lines.enumerated().map { index, text in
            let number = excerpt.first + index
            return ["number": .text(number), "text": .text(text), "isMarked": .flag(number == line)]
        }
    }

    /// Returns a link to the log of each configuration that has the issue.
    func logs(of issue: Issue, _ context: FailureContext) -> [ViewObject] {
        issue.configurations.compactMap { name in
            context.attempts.last { $0.id.job == name }.map { attempt in
                [
                    "text": .text(name),
                    "href": .text(
                        context.lines.path(of: issue, in: name) ?? LogAddress.href(attempt, kind: issue.step)),
                ]
            }
        }
    }

    private static func sentence(_ share: FailureShare, on ref: RefName) -> String? {
        guard share.integrations > 1 else { return nil }
        return "failed in \(share.failed) of the last \(share.integrations) integrations of \(ref.shortName)"
    }

    private func rule(_ rule: IssueOverview.Rule, _ context: FailureContext, isOpen: Bool) -> ViewObject {
        let more = rule.count - rule.first.count
        return [
            "name": .text(rule.name.isEmpty ? "Without a rule" : rule.name),
            "category": .text(ResultView(rule.category).word), "count": .text(rule.count.grouped),
            "new": .text(rule.new > 0 ? "\(rule.new.grouped) new" : nil), "isOpen": .flag(isOpen),
            "issues": .list(rule.first.map { issue($0, context) }), "more": .text(more > 0 ? more.grouped : nil),
        ]
    }
}
