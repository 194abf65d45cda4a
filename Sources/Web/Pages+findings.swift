import Model
import Storage

extension Pages {
    /// The most issues of one status on a page; the rest is in the JSON.
    private static let maximumIssues = 500
    /// The most tests on a page: what fails, and so many others.
    private static let maximumTests = 1000

    func show(issues: [Issue], of record: IntegrationRecord, in view: inout ViewObject) {
        let titles: [(Issue.Status, String)] = [
            (.new, "New"), (.unresolved, "Unresolved"), (.resolved, "Resolved"), (.silenced, "Silenced"),
        ]
        let groups: [ViewObject] = titles.compactMap { status, title in
            let group = issues.filter { $0.status == status }.sorted(by: Self.isBefore)
            guard !group.isEmpty else { return nil }
            let more = group.count - Self.maximumIssues
            return [
                "title": .text(title), "count": .text(group.count),
                "issues": .list(group.prefix(Self.maximumIssues).map { issue($0, of: record) }),
                "more": .text(more > 0 ? String(more) : nil),
            ]
        }
        view["issueGroups"] = .list(groups)
        let isDone = record.summary != nil
        view["noIssues"] = .text(isDone ? "None." : "Known when all configurations are done.")
    }

    private func issue(_ issue: Issue, of record: IntegrationRecord) -> ViewObject {
        let result = ResultView(issue.finding.category)
        let isResolved = issue.status == .resolved
        let all = record.recipe?.configurations.count ?? 0
        let configurations = issue.configurations.map(\.description).joined(separator: ", ")
        return [
            "tone": .text(isResolved ? "good" : result.tone.rawValue),
            "icon": .html(isResolved ? ResultView.check : result.icon), "message": .text(issue.finding.message),
            "category": .text(result.word), "place": .text(Self.place(issue.finding)),
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

    /// Who, and in which commit; a guess is called one.
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
        let verb = silence.holds(at: time) ? "silenced" : "was silenced"
        return "\(verb) by \(silence.person)\(until): \(silence.reason)"
    }

    static func place(_ finding: Finding) -> String? {
        guard let path = finding.path else { return nil }
        return [path, finding.line.map(String.init), finding.column.map(String.init)].compactMap(\.self)
            .joined(separator: ":")
    }

    private static func isBefore(_ left: Issue, _ right: Issue) -> Bool {
        func rank(_ issue: Issue) -> Int { Finding.Category.allCases.firstIndex(of: issue.finding.category) ?? 0 }
        return (rank(left), left.finding.path ?? "", left.finding.line ?? 0, left.fingerprint)
            < (rank(right), right.finding.path ?? "", right.finding.line ?? 0, right.fingerprint)
    }

    /// An integration's tests as its page shows them: all that fail before some of the others.
    func shownTests(
        of id: IntegrationID, attempt: Int?, failingOnly: Bool
    ) async throws -> (shown: [StoredTest], hasMore: Bool) {
        let failing = try await site.store.testPage(
            of: id, attempt: attempt, outcomes: Set(TestResult.Outcome.allCases.filter(\.isFailure)),
            limit: Self.maximumTests)
        if failingOnly { return (failing.items, failing.next != nil) }
        let others = try await site.store.testPage(
            of: id, attempt: attempt, outcomes: Set(TestResult.Outcome.allCases.filter { !$0.isFailure }),
            limit: Self.maximumTests)
        return (failing.items + others.items, failing.next != nil || others.next != nil)
    }

    func show(
        tests: [StoredTest], hasMore: Bool, isFailing: Bool, of record: IntegrationRecord, _ attempts: [AttemptRecord],
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
        // Suites that fail come first, and open.
        let failing = order.filter { groups[$0]?.contains { $0.outcome.isFailure } == true }
        let others = order.filter { groups[$0]?.contains { $0.outcome.isFailure } != true }
        view["suites"] = .list(
            (failing + others).map { key in
                suite(
                    key.suite, in: key.configuration, groups[key] ?? [], isOpen: failing.contains(key),
                    of: record.id.bot)
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

    private func suite(
        _ name: String, in configuration: Name, _ tests: [TestResult], isOpen: Bool, of bot: Name
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
            "counts": .text(counts),
            "tests": .list(
                sorted.map { test in
                    let result = ResultView(test.outcome)
                    let place = test.path.map { path in test.line.map { "\(path):\($0)" } ?? path }
                    return [
                        "name": .text(test.name), "history": .text(Self.historyPath(test.fullName, of: bot)),
                        "outcome": .text(result.word), "tone": .text(result.tone.rawValue),
                        "icon": .html(result.icon), "message": .text(test.message),
                        "place": .text(test.outcome.isFailure ? place : nil),
                        "took": .text(test.duration.map(PageText.duration) ?? ""),
                    ]
                }),
        ]
    }
}
