import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct StoreIssueOverviewTests {
    private static func issue(
        _ number: Int, _ status: Model.Issue.Status, _ category: Finding.Category, rule: String
    ) throws -> Model.Issue {
        Model.Issue(
            fingerprint: "f\(number)", status: status,
            finding: Finding(category: category, message: "m\(number)", rule: rule, path: "a.c", line: number), age: 1,
            configurations: [try name("debug")])
    }

    @Test(.proves(.web, "An integration's page shows errors and failing tests first, then warnings by rule"))
    func testThatFailuresAreListedAndWarningsAreFolded() async throws {
        try await withStore { fixture in
            // given
            let id = try await fixture.queue().id
            var issues = try (1...8).map { try Self.issue($0, .unresolved, .warning, rule: "unused") }
            issues += try (9...10).map { try Self.issue($0, .new, .warning, rule: "unused") }
            issues += [
                try Self.issue(11, .new, .analyzerWarning, rule: "leak"),
                try Self.issue(12, .unresolved, .error, rule: ""),
                try Self.issue(13, .new, .testFailure, rule: "Kit/a"),
                try Self.issue(14, .silenced, .testFailure, rule: "Kit/b"),
                try Self.issue(15, .resolved, .error, rule: ""),
                try Self.issue(16, .silenced, .warning, rule: "unused"),
            ]
            try await fixture.store.completeIssues(of: id, issues: issues, summary: Summary(), at: time(20))
            // when
            let overview = try await fixture.store.issueOverview(of: id, failures: 10)
            let short = try await fixture.store.issueOverview(of: id, failures: 2)
            // then: new ones first; a muted failing test still counts
            #expect(overview.failures.map(\.fingerprint) == ["f13", "f12", "f14"])
            #expect(short.failures.map(\.fingerprint) == ["f13", "f12"] && short.failureCount == 3)
            #expect(overview.rules.map(\.name) == ["unused", "leak"])
            #expect(overview.rules.map(\.count) == [10, 1] && overview.rules.map(\.new) == [2, 1])
            #expect(overview.rules[0].first.map(\.fingerprint) == ["f9", "f10", "f1", "f2", "f3"])
            #expect(overview.hasAllRules)
            #expect(overview.count(of: .resolved) == 1 && overview.count(of: .silenced) == 2)
        }
    }

    @Test func testThatManyRulesAreCut() async throws {
        try await withStore { fixture in
            // given
            let id = try await fixture.queue().id
            let count = IssueOverview.maximumRules + 1
            let issues = try (1...count).map { try Self.issue($0, .new, .warning, rule: "rule\($0)") }
            try await fixture.store.completeIssues(of: id, issues: issues, summary: Summary(), at: time(20))
            // when
            let overview = try await fixture.store.issueOverview(of: id, failures: 10)
            // then
            #expect(overview.rules.count == IssueOverview.maximumRules && !overview.hasAllRules)
        }
    }

    @Test(.proves(.web, "A failing test says how often it failed in the branch's last integrations"))
    func testThatFailuresAreCountedInTheLastIntegrationsOfTheBranch() async throws {
        try await withStore { fixture in
            // given
            for outcome in [TestResult.Outcome.failed, .passed, .crashed] {
                try await StoreTestRecordsTests.integrate(
                    fixture, StoreTestRecordsTests.tests(0..<3, [1: outcome]), verdict: .testFailures)
            }
            try await StoreTestRecordsTests.integrate(
                fixture, StoreTestRecordsTests.tests(0..<3, [1: .failed]), ref: RefName(branch: "other"),
                verdict: .testFailures)
            let record = try #require(
                try await fixture.store.integrations(IntegrationFilter(), limit: 10).items.first {
                    $0.ref == .main
                })
            let whole = try #require(try await fixture.store.integration(record.id))
            // when
            let shares = try await fixture.store.failureShares(of: ["Suite0/test1", "Suite0/test2", "gone"], in: whole)
            // then
            #expect(
                shares == [
                    "Suite0/test1": FailureShare(failed: 2, integrations: 3),
                    "Suite0/test2": FailureShare(failed: 0, integrations: 3),
                ])
        }
    }
}
