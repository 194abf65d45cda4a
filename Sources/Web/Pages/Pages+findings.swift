import Hummingbird
import Model
import Storage

extension Pages {
    /// The most issues on a page; links lead to the others.
    static let maximumIssues = 200

    /// Returns the page `/bots/{bot}/{number}/issues`.
    func issues(_ call: AuthorizedRequest) async throws -> Response {
        let record = try await site.integration(of: call)
        let after = try call.number("after", 0...Int(Int32.max)) ?? 0
        let listing = try await site.store.issueListing(of: record.id, limit: Self.maximumIssues, after: after)
        let end = after + listing.items.count
        var view: ViewObject = [
            "bot": .text(record.id.bot), "number": .text(record.id.number), "href": .text(Self.href(record.id)),
            "api": .text("/api/v1/bots/\(record.id.bot)/integrations/\(record.id.number)"),
            "says": .text(
                listing.items.isEmpty
                    ? PageText.count(listing.total, "issue")
                    : "\(after + 1) to \(end) of \(PageText.count(listing.total, "issue"))"),
            "previous": .text(after > 0 ? Self.issuesHref(record.id, after: max(0, after - Self.maximumIssues)) : nil),
            "next": .text(end < listing.total ? Self.issuesHref(record.id, after: end) : nil),
        ]
        let links = IntegrationLinks(
            await site.links(of: record.repository, bot: record.id.bot), of: record, previous: nil)
        let attempts = Site.shown(try await site.attempts(of: record), attempt: nil)
        show(
            issues: listing, after: after,
            in: FailureContext(
                record: record, attempts: attempts, links: links,
                lines: try await LogLinks(of: record.id, attempt: nil, in: site.store)), &view)
        return try await page("issues", title: "Issues of \(record.id)", section: "bots", view)
    }

    private static func issuesHref(_ id: IntegrationID, after: Int) -> String { "\(href(id))/issues?after=\(after)" }

    static func href(_ id: IntegrationID) -> String { "/bots/\(id.bot)/\(id.number)" }

    /// Shows part of the issues, by status; each status has the count of all its issues, and a link to the next of them that are not shown.
    /// - Parameter after: The number of issues before the shown part. Statuses that end before it are left out.
    private func show(issues listing: IssueListing, after: Int, in context: FailureContext, _ view: inout ViewObject) {
        let record = context.record
        let titles: [(Issue.Status, String)] = [
            (.new, "New"), (.unresolved, "Unresolved"), (.resolved, "Resolved"), (.silenced, "Muted"),
        ]
        var (groups, start): ([ViewObject], Int) = ([], 0)
        for (status, title) in titles {
            let (count, first) = (listing.count(of: status), start)
            start += count
            guard count > 0, start > after else { continue }
            let group = listing.items.filter { $0.status == status }
            let more = start - max(first, after) - group.count
            groups.append([
                "title": .text(title), "count": .text(count.grouped),
                "issues": .list(group.map { issue($0, context) }), "hasIssues": .flag(!group.isEmpty),
                "more": .text(more > 0 ? more.grouped : nil),
                "moreHref": .text(Self.issuesHref(record.id, after: start - more)),
            ])
        }
        view["issueGroups"] = .list(groups)
        let isDone = record.summary != nil
        let none = listing.total > 0 ? "No more." : "None."
        view["noIssues"] = .text(isDone ? none : "No results yet: they are known when all configurations are done.")
    }

    /// Shows an issue as a line of a list.
    func issue(_ issue: Issue, _ context: FailureContext) -> ViewObject {
        let finding = issue.finding
        let result = ResultView(finding.category)
        let isResolved = issue.status == .resolved
        let all = context.record.recipe?.configurations.count ?? 0
        let (title, rest) = Self.title(of: finding)
        var view: ViewObject = [
            "tone": .text(isResolved ? "good" : result.tone.rawValue),
            "icon": .html(isResolved ? ResultView.check : result.icon),
            "name": .text(finding.isOfTest ? title.name : nil), "suite": .text(finding.isOfTest ? title.suite : nil),
            "history": .text(
                finding.isOfTest
                    ? Self.historyPath(finding.flakyTest ?? finding.rule, of: context.record.id.bot) : nil),
            "message": .text(finding.isOfTest ? rest ?? "" : finding.message),
            "category": .text(result.word), "place": .text(Self.place(finding)),
            "placeHref": .text(isResolved ? nil : context.links.file(finding.path, line: finding.line)),
            "rule": .text(finding.rule.isEmpty || finding.isOfTest ? nil : finding.rule),
            "logs": .list(isResolved || issue.configurations.count == all && all > 1 ? [] : logs(of: issue, context)),
            "everywhere": .list(
                isResolved || issue.configurations.count != all || all <= 1
                    ? [] : Array(logs(of: issue, context).prefix(1))),
            "fingerprint": .text(issue.fingerprint.prefix(12)),
        ]
        view.merge(origin(of: issue, context))
        return view
    }

    static func age(of issue: Issue, in record: IntegrationRecord) -> String? {
        guard issue.age > 1 else { return nil }
        return "for \(issue.age.grouped) integrations" + (issue.since.map { ", since \(record.id.bot)#\($0)" } ?? "")
    }

    /// Returns the author who introduced an issue. A guess is marked as one.
    static func sentence(_ introduction: Introduction) -> String {
        (introduction.confidence == .high ? "" : "perhaps ") + "by \(introduction.author)"
    }

    static func reason(_ introduction: Introduction) -> String {
        let how =
            switch introduction.strategy {
            case .blameLineAgainstCommits: "its line comes from this commit"
            case .fileHasBeenModifiedByCommits: "this commit changed its file"
            case .blameLine: "this older commit wrote its line"
            case .lastCommitFromFile: "this older commit changed its file last"
            case .mostCommitterInFile: "the newest commit of the author who changed its file most often"
            case .singleCommitInIntegration: "the integration's only commit"
            case .multipleCommitsSingleUserInIntegration: "all of the integration's commits are of one person"
            }
        return "\(how) (\(introduction.strategy.rawValue))"
    }

    static func sentence(_ silence: Silence, at time: Timestamp) -> String {
        let until = silence.expires.map { " until \(PageText.time($0))" } ?? ""
        let verb = silence.holds(at: time) ? "muted" : "was muted"
        return "\(verb) by \(silence.person)\(until): \(silence.reason)"
    }

    static func place(_ finding: Finding) -> String? {
        guard let path = finding.path else { return nil }
        return [path, finding.line.map(String.init), finding.column.map(String.init)].compactMap(\.self)
            .joined(separator: ":")
    }
}
