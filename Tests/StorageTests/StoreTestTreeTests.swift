import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct StoreTestTreeTests {
    private typealias Tests = StoreTestRecordsTests

    /// Stores an integration with 300 tests in three suites and two configurations: 210 fails in both, 120 only in release.
    private static func integrate(_ fixture: StoreFixture) async throws -> IntegrationID {
        let attempt = try await Tests.integrate(
            fixture, Tests.tests(0..<300, [210: .failed, 5: .skipped, 7: .flaky]), verdict: .testFailures)
        let other = try await fixture.store.addAttempt(
            to: attempt.integration, job: try name("release"), at: time(21)
        ).id
        try await Tests.add(
            Tests.tests(0..<250, [210: .crashed, 120: .failed, 5: .skipped]), to: other, fixture,
            verdict: .testFailures)
        return attempt.integration
    }

    @Test(
        .proves(.web, "Tests are one tree: class × configuration, what fails first"),
        .proves(.web, "One count everywhere: \"400 tests in 3 configurations, 4 fail, 1 skipped\""))
    func testThatSuitesWithFailuresComeFirstAndEachTestCountsOnce() async throws {
        try await withStore { fixture in
            // given
            let id = try await Self.integrate(fixture)
            // when
            let tree = try await fixture.store.testTree(of: id)
            // then
            #expect(tree.tally.sentence == "300 tests in 2 configurations, 2 fail, 1 flaky, 1 skipped")
            #expect(try await fixture.store.testTally(of: id) == tree.tally)
            #expect(tree.configurations.map(\.description) == ["debug", "release"])
            #expect(tree.suites.map(\.name) == ["Suite1", "Suite2", "Suite0"])
            #expect(tree.suites.map(\.total) == [100, 100, 100] && tree.suites.map(\.failing) == [1, 1, 0])
            #expect(
                tree.suites[0].tests[0].name == "test120" && tree.suites[0].tests[0].outcomes == [.passed, .failed])
            #expect(tree.suites[1].tests[0].outcomes == [.failed, .crashed])
            #expect(tree.suites[1].counts.map(\.tests) == [100, 50] && tree.suites[1].counts.map(\.failing) == [1, 1])
            #expect(tree.suites[2].tests[0].name == "test7")
            #expect(tree.found == 300 && tree.more == 0 && tree.shown == 300)
        }
    }

    @Test func testThatATreeIsReadInParts() async throws {
        try await withStore { fixture in
            // given
            let id = try await Self.integrate(fixture)
            let all = try await fixture.store.testTree(of: id).suites.flatMap(\.tests)
            // when
            var parts: [TestTree.Test] = []
            for after in stride(from: 0, to: 300, by: 70) {
                let part = try await fixture.store.testTree(of: id, limit: 70, after: after)
                #expect(part.more == max(0, 230 - after) && part.found == 300)
                parts += part.suites.flatMap(\.tests)
            }
            // then
            #expect(parts == all)
            #expect(try await fixture.store.testTree(of: id, after: 300).suites.isEmpty)
        }
    }

    @Test(.proves(.web, "A tree of tests is filtered by a text, by failing, and shows the slowest"))
    func testThatATreeIsFiltered() async throws {
        try await withStore { fixture in
            // given
            let id = try await Self.integrate(fixture)
            func names(_ filter: TestTree.Filter) async throws -> [String] {
                try await fixture.store.testTree(of: id, filter: filter, limit: 3).suites.flatMap(\.tests).map(\.name)
            }
            // then
            #expect(try await names(.init(isFailing: true)) == ["test120", "test210"])
            #expect(try await names(.init(text: "SUITE2/test21")) == ["test210", "test211", "test212"])
            #expect(try await names(.init(text: "21", isFailing: true)) == ["test210"])
            #expect(try await names(.init(isSlowest: true)) == ["test299", "test298", "test297"])
            #expect(try await names(.init(text: "%")).isEmpty)
            #expect(try await names(.init(text: "_")).isEmpty)
            let found = try await fixture.store.testTree(of: id, filter: .init(text: "test1"))
            #expect(found.found == 111 && found.tally.tests == 300)
        }
    }

    @Test func testThatNoTestsAreAnEmptyTree() async throws {
        try await withStore { fixture in
            let id = try await fixture.queue().id
            let tree = try await fixture.store.testTree(of: id)
            #expect(tree.suites.isEmpty && tree.tally.tests == 0)
            #expect(try await fixture.store.testTally(of: id) == nil)
        }
    }

    @Test func testThatASummaryKeepsItsTally() async throws {
        try await withStore { fixture in
            // given
            let id = try await fixture.queue().id
            let tally = TestTally(tests: 5, configurations: 2, failing: 1, flaky: 0, skipped: 3)
            var change = Counts()
            change.tests = -4
            let summary = Summary(counts: Counts(), change: change, tally: tally)
            // when
            try await fixture.store.completeIssues(of: id, issues: [], summary: summary, at: time(20))
            // then
            #expect(try await fixture.store.integration(id)?.summary == summary)
            let text = try jsonText(summary)
            #expect(Summary(written: text) == summary)
            #expect(Summary(written: text.replacing("\"skipped\":3", with: "\"skipped\":x")) == nil)
            #expect(Summary(written: try jsonText(Summary())) == Summary())
        }
    }
}
