import Hummingbird
import Model
import Storage

extension Pages {
    /// The most issues on a page; links lead to the others.
    static let maximumIssues = 200
    /// The most tests on a page; failing tests come first.
    static let maximumTests = 200

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
        let lines = try await LogLinks(of: record.id, attempt: nil, in: site.store)
        show(issues: listing, lines, after: after, of: record, in: &view)
        return try await page("issues", title: "Issues of \(record.id)", section: "bots", view)
    }

    private static func issuesHref(_ id: IntegrationID, after: Int) -> String { "\(href(id))/issues?after=\(after)" }

    static func href(_ id: IntegrationID) -> String { "/bots/\(id.bot)/\(id.number)" }

    /// Shows part of the issues, by status; each status has the count of all its issues, and a link to the next of them that are not shown.
    /// - Parameter after: The number of issues before the shown part. Statuses that end before it are left out.
    func show(
        issues listing: IssueListing, _ lines: LogLinks, after: Int = 0, of record: IntegrationRecord,
        in view: inout ViewObject
    ) {
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
                "title": .text(title), "count": .text(count),
                "issues": .list(group.map { issue($0, lines, of: record) }), "hasIssues": .flag(!group.isEmpty),
                "more": .text(more > 0 ? String(more) : nil),
                "moreHref": .text(Self.issuesHref(record.id, after: start - more)),
            ])
        }
        view["issueGroups"] = .list(groups)
        let isDone = record.summary != nil
        let none = listing.total > 0 ? "No more." : "None."
        view["noIssues"] = .text(isDone ? none : "Known when all configurations are done.")
    }

    private func issue(_ issue: Issue, _ lines: LogLinks, of record: IntegrationRecord) -> ViewObject {
        let result = ResultView(issue.finding.category)
        let isResolved = issue.status == .resolved
        let all = record.recipe?.configurations.count ?? 0
        let configurations = issue.configurations.map(\.description).joined(separator: ", ")
        return [
            "tone": .text(isResolved ? "good" : result.tone.rawValue),
            "icon": .html(isResolved ? ResultView.check : result.icon), "message": .text(issue.finding.message),
            "category": .text(result.word), "place": .text(Self.place(issue.finding)),
            "log": .text(isResolved ? nil : lines.path(of: issue)),
            "rule": .text(issue.finding.rule.isEmpty ? nil : issue.finding.rule),
            "configurations": .text(issue.configurations.count == all || configurations.isEmpty ? nil : configurations),
            "age": .text(Self.age(of: issue, in: record)),
            "fingerprint": .text(issue.fingerprint.prefix(12)),
            "introduced": .text(issue.introducedBy.map(Self.sentence)),
            "introducedWhy": .text(issue.introducedBy.map(Self.reason)),
            "silence": .text(issue.silence.map { Self.sentence($0, at: site.clock()) }),
        ]
    }

    private static func age(of issue: Issue, in record: IntegrationRecord) -> String? {
        guard issue.age > 1 else { return nil }
        return "for \(issue.age) integrations" + (issue.since.map { ", since \(record.id.bot)#\($0)" } ?? "")
    }

    /// Returns the author and commit that introduced an issue. A guess is marked as one.
    private static func sentence(_ introduction: Introduction) -> String {
        (introduction.confidence == .high ? "" : "perhaps ") + "by \(introduction.author) in "
            + introduction.commit.abbreviated
    }

    private static func reason(_ introduction: Introduction) -> String {
        let how =
            switch introduction.strategy {
            case .blameLineAgainstCommits: "its line comes from this commit"
            case .fileHasBeenModifiedByCommits: "this commit changed its file"
            case .blameLine: "this older commit wrote its line"
            case .lastCommitFromFile: "this older commit changed its file last"
            case .mostCommitterInFile: "the newest of whoever changed its file most often"
            case .singleCommitInIntegration: "the integration's only commit"
            case .multipleCommitsSingleUserInIntegration: "all of the integration's commits are of one person"
            }
        return "\(how) (\(introduction.strategy.rawValue))"
    }

    private static func sentence(_ silence: Silence, at time: Timestamp) -> String {
        let until = silence.expires.map { " until \(PageText.time($0))" } ?? ""
        let verb = silence.holds(at: time) ? "muted" : "was muted"
        return "\(verb) by \(silence.person)\(until): \(silence.reason)"
    }

    static func place(_ finding: Finding) -> String? {
        guard let path = finding.path else { return nil }
        return [path, finding.line.map(String.init), finding.column.map(String.init)].compactMap(\.self)
            .joined(separator: ":")
    }

    /// Returns the tests that an integration's page shows: first all failing ones, then others up to the limit.
    func shownTests(
        of id: IntegrationID, attempt: Int?, failingOnly: Bool
    ) async throws -> (shown: [StoredTest], hasMore: Bool) {
        let failing = try await site.store.testPage(
            of: id, attempt: attempt, outcomes: Set(TestResult.Outcome.allCases.filter(\.isFailure)),
            limit: Self.maximumTests)
        if failingOnly { return (failing.items, failing.next != nil) }
        let others = try await site.store.testPage(
            of: id, attempt: attempt, outcomes: Set(TestResult.Outcome.allCases.filter { !$0.isFailure }),
            limit: Self.maximumTests - failing.items.count)
        return (failing.items + others.items, failing.next != nil || others.next != nil)
    }

    func show(
        tests: [StoredTest], hasMore: Bool, isFailing: Bool, _ lines: LogLinks, of record: IntegrationRecord,
        _ attempts: [AttemptRecord],
        in view: inout ViewObject
    ) {
        struct Key: Hashable {
            let suite: String
            let configuration: Name
        }
        var order: [Key] = []
        var groups: [Key: [TestResult]] = [:]
        for test in tests {
            let key = Key(suite: test.result.suite, configuration: test.configuration)
            if groups[key] == nil { order.append(key) }
            groups[key, default: []].append(test.result)
        }
        // Suites with failures come first, and are expanded.
        let failing = order.filter { groups[$0]?.contains { $0.outcome.isFailure } == true }
        let others = order.filter { groups[$0]?.contains { $0.outcome.isFailure } != true }
        view["suites"] = .list(
            (failing + others).map { key in
                suite(
                    key.suite, in: key.configuration, groups[key] ?? [], isOpen: failing.contains(key),
                    isWhole: !hasMore, lines, of: record.id.bot)
            })
        view["isFailing"] = .flag(isFailing)
        view["hasTests"] = .flag(!tests.isEmpty || isFailing)
        let ran = attempts.contains { $0.steps.contains { $0.step == .testing && $0.endedAt != nil } }
        let none =
            record.summary == nil
            ? "Known when a configuration is done."
            : ran
                ? "Judged by exit status alone: no report tells of single tests. The recipe’s “report” names one."
                : "No test ran."
        view["noTests"] = .text(isFailing ? "None fails." : none)
        view["moreTests"] = .flag(hasMore)
    }

    /// Shows a suite's tests.
    /// - Parameter isWhole: Whether `tests` are all tests of the suite. Otherwise the page states that the counts are those of the shown tests.
    private func suite(
        _ name: String, in configuration: Name, _ tests: [TestResult], isOpen: Bool, isWhole: Bool, _ lines: LogLinks,
        of bot: Name
    ) -> ViewObject {
        let failures = tests.count { $0.outcome.isFailure }
        let sorted =
            tests.filter(\.outcome.isFailure) + tests.filter { $0.outcome == .flaky }
            + tests.filter { !$0.outcome.isFailure && $0.outcome != .flaky }
        let skipped = tests.count { $0.outcome == .skipped }
        let flaky = tests.count { $0.outcome == .flaky }
        let counts =
            failures > 0
            ? "\(failures) of \(tests.count) failing"
            : PageText.count(tests.count - skipped, "test")
                + (skipped > 0 ? ", \(skipped) skipped" : "") + (flaky > 0 ? ", \(flaky) flaky" : "")
        return [
            "suite": .text(name.isEmpty ? "Tests" : name), "configuration": .text(configuration),
            "isOpen": .flag(isOpen), "tone": .text(failures > 0 ? "bad" : flaky > 0 ? "warn" : "good"),
            "counts": .text(isWhole ? counts : counts + " shown"),
            "tests": .list(
                sorted.map { test in
                    let result = ResultView(test.outcome)
                    let place = test.path.map { path in test.line.map { "\(path):\($0)" } ?? path }
                    return [
                        "name": .text(test.name), "history": .text(Self.historyPath(test.fullName, of: bot)),
                        "outcome": .text(result.word), "tone": .text(result.tone.rawValue),
                        "icon": .html(result.icon), "message": .text(test.message),
                        "log": .text(
                            test.outcome.isFailure || test.outcome == .flaky
                                ? lines.path(ofTest: test.fullName, in: configuration) : nil),
                        "place": .text(test.outcome.isFailure ? place : nil),
                        "took": .text(test.duration.map(PageText.duration) ?? ""),
                    ]
                }),
        ]
    }
}
