import Model
import TestSupport
import Testing

@testable import Storage

/// The history of one test, the grid of an integration, and a bot's flaky tests.
@Suite struct StoreTestHistoryTests {
    private static let tests = StoreTestRecordsTests.self

    /// In integration 1 test1 passes. In 2 it fails in debug, with a long list. 3 is of another branch, and it passes. In 4 it does not run in
    /// debug, and fails in release. In 5 it passes in both.
    private static func fill(_ fixture: StoreFixture) async throws {
        try await tests.integrate(fixture, tests.tests(0..<600))
        try await tests.integrate(fixture, tests.tests(0..<600, [1: .failed]), verdict: .testFailures)
        try await tests.integrate(fixture, tests.tests(0..<600), ref: .line)
        try await integrate(fixture, ["debug": tests.tests(2..<600), "release": tests.tests(0..<600, [1: .crashed])])
        try await integrate(fixture, ["debug": tests.tests(0..<600), "release": tests.tests(0..<600)])
    }

    /// Stores an integration with several configurations.
    @discardableResult
    private static func integrate(
        _ fixture: StoreFixture, _ configurations: [String: [TestResult]]
    ) async throws -> IntegrationID {
        let store = fixture.store
        let id = try await fixture.queue().id
        try await store.apply(.started, to: id, at: time(20))
        for (job, results) in configurations.sorted(by: { $0.key < $1.key }) {
            let attempt = try await store.addAttempt(to: id, job: try name(job), at: time(21)).id
            try await tests.add(results, to: attempt, fixture)
        }
        try await store.apply(.completed(.succeeded, triggerFailed: false), to: id, at: time(30))
        return id
    }

    private static func lines(_ entries: [TestHistory.Entry]) -> [String] {
        entries.map {
            "\($0.integration.number) \($0.configuration) \($0.outcome)\($0.message.map { ": \($0)" } ?? "")"
        }
    }

    @Suite struct GivenItsHistory {
        private typealias Outer = StoreTestHistoryTests

        @Test(.proves(.testHistory, "Per test: history, last failures, durations, on which configurations"))
        func testThatEveryIntegrationThatRanItIsTold() async throws {
            try await withStore { fixture in
                // given
                try await Outer.fill(fixture)
                // when
                let found = try await fixture.store.testHistory(of: "Suite0/test1", bot: name("kit"))
                // then
                let history = try #require(found)
                #expect(
                    Outer.lines(history.entries) == [
                        "5 debug passed", "5 release passed", "4 release crashed: crashed 1", "3 debug passed",
                        "2 debug failed: failed 1", "1 debug passed",
                    ])
                #expect(history.entries.map(\.duration) == Array(repeating: .milliseconds(2), count: 6))
                #expect(history.entries[3].ref == .line)
                #expect(history.next == nil)
                #expect(history.configurations.map(\.name.description) == ["debug", "release"])
                #expect(history.configurations[0].outcomes == [.passed: 3, .failed: 1])
                #expect(history.configurations[0].durations?.median == .milliseconds(2))
                #expect(history.configurations[1].latest.outcome == .passed)
            }
        }

        @Test(.proves(.testHistory, "Per test: history, last failures, durations, on which configurations"))
        func testThatItCanBeOfOneBranchAndConfigurationAndComesInParts() async throws {
            try await withStore { fixture in
                try await Outer.fill(fixture)
                let kit = try name("kit")
                func history(_ ref: RefName?, _ job: String?, before: Int64? = nil) async throws -> TestHistory {
                    try #require(
                        try await fixture.store.testHistory(
                            of: "Suite0/test1", bot: kit, ref: ref, configuration: job.map { try name($0) }, limit: 2,
                            before: before))
                }
                #expect(try await Outer.lines(history(.line, nil).entries) == ["3 debug passed"])
                let newest = try await history(.main, "debug")
                #expect(Outer.lines(newest.entries) == ["5 debug passed"], "4 ran it in release alone")
                #expect(newest.next == 4)
                let older = try await history(.main, "debug", before: newest.next)
                #expect(Outer.lines(older.entries) == ["2 debug failed: failed 1", "1 debug passed"])
                #expect(older.next == nil)
            }
        }

        @Test(.proves(.testHistory, "Per test: history, last failures, durations, on which configurations"))
        func testThatHowManyInARowFailIsCounted() async throws {
            try await withStore { fixture in
                for outcome in [TestResult.Outcome.passed, .failed, .crashed] {
                    try await Outer.tests.integrate(fixture, Outer.tests.tests(0..<5, [1: outcome]))
                }
                let history = try await fixture.store.testHistory(of: "Suite0/test1", bot: name("kit"))
                #expect(history?.configurations.map(\.failing) == [2])
            }
        }

        @Test func testThatHowManyInARowFailIsCountedInOneBranch() async throws {
            try await withStore { fixture in
                for (outcome, ref) in [(TestResult.Outcome.failed, RefName.main), (.passed, .line), (.failed, .main)] {
                    try await Outer.tests.integrate(fixture, Outer.tests.tests(0..<5, [1: outcome]), ref: ref)
                }
                let history = try await fixture.store.testHistory(of: "Suite0/test1", bot: name("kit"))
                #expect(history?.configurations.map(\.failing) == [2])
            }
        }

        @Test func testThatWhyItIsSkippedIsToldEachTime() async throws {
            try await withStore { fixture in
                for _ in 0..<2 {
                    try await Outer.tests.integrate(fixture, Outer.tests.tests(0..<5, [1: .skipped]))
                }
                let history = try await fixture.store.testHistory(of: "Suite0/test1", bot: name("kit"))
                #expect(
                    Outer.lines(history?.entries ?? []) == ["2 debug skipped: skipped 1", "1 debug skipped: skipped 1"])
            }
        }

        @Test(
            .proves(.intake, "Rows are read in one checked way: an invalid value is an error that names its column"),
            arguments: [TestResult.Outcome.failed, .crashed, .flaky, .skipped])
        func testThatWhatEndedWithoutAMessageHasNone(_ outcome: TestResult.Outcome) async throws {
            try await withStore { fixture in
                // given
                for outcome in [TestResult.Outcome.passed, outcome] {
                    try await Outer.tests.integrate(
                        fixture, [TestResult(suite: "Suite0", name: "test1", outcome: outcome)])
                }
                // when
                let history = try await fixture.store.testHistory(of: "Suite0/test1", bot: name("kit"))
                // then
                #expect(Outer.lines(history?.entries ?? []) == ["2 debug \(outcome)", "1 debug passed"])
            }
        }

        @Test(.proves(.testHistory, "Per test: history, last failures, durations, on which configurations"))
        func testThatTheLastAttemptCountsAndTheFailureBeforeIsRemembered() async throws {
            try await withStore { fixture in
                // given
                let first = try await Outer.tests.integrate(fixture, Outer.tests.tests(0..<5, [1: .failed]))
                _ = try await fixture.store.reopen(
                    first.integration, for: NewRerun(requestedBy: "ann", jobs: [first.job]), at: time(31))
                let second = AttemptID(integration: first.integration, job: first.job, attempt: 2)
                try await Outer.tests.add(Outer.tests.tests(0..<5, [1: .flaky]), to: second, fixture)
                try await fixture.store.apply(.started, to: first.integration, at: time(32))
                try await fixture.store.apply(
                    .completed(.warnings, triggerFailed: false), to: first.integration, at: time(33))
                // then
                let kit = try name("kit")
                let history = try await fixture.store.testHistory(of: "Suite0/test1", bot: kit)
                #expect(Outer.lines(history?.entries ?? []) == ["1 debug flaky: flaky 1"])
                let failures = try await fixture.store.lastFailures(of: "Suite0/test1", bot: kit)
                #expect(failures.map(\.attempt) == [2, 1])
                #expect(failures.map(\.result.outcome) == [.flaky, .failed])
                #expect(failures.map(\.result.message) == ["flaky 1", "failed 1"])
                #expect(try await fixture.store.lastFailures(of: "Suite0/test2", bot: kit) == [])
            }
        }

        @Test func testThatANameIsFoundWhereverItsSlashesAre() async throws {
            try await withStore { fixture in
                let results = [("a/b", "c/d()"), ("", "x/y"), ("", "plain")].map { suite, name in
                    TestResult(suite: suite, name: name, outcome: .passed)
                }
                try await Outer.tests.integrate(fixture, results)
                let kit = try name("kit")
                for result in results {
                    let history = try await fixture.store.testHistory(of: result.fullName, bot: kit)
                    #expect(history?.suite == result.suite)
                    #expect(history?.name == result.name)
                }
                #expect(try await fixture.store.testHistory(of: "a/b/c", bot: kit) == nil)
                #expect(try await fixture.store.testHistory(of: "plain", bot: name("other")) == nil)
            }
        }
    }

    @Suite struct GivenAGrid {
        private typealias Outer = StoreTestHistoryTests

        @Test(.proves(.testHistory, "The grid tests × configurations says \"fails only in release\""))
        func testThatItShowsWhatIsNotPassedEverywhereAndWhatFailsFirst() async throws {
            try await withStore { fixture in
                // given
                let id = try await Outer.integrate(
                    fixture,
                    [
                        "debug": Outer.tests.tests(0..<600, [3: .skipped, 7: .failed, 8: .flaky]),
                        "release": Outer.tests.tests(2..<601, [3: .skipped, 5: .failed, 7: .crashed]), "analyze": [],
                    ])
                // when
                let grid = try await fixture.store.testGrid(of: id)
                // then
                #expect(grid.configurations.map(\.description) == ["debug", "release"])
                #expect(grid.total == 601)
                #expect(
                    grid.rows.map { "\($0.name) \($0.sentence(grid.configurations))" } == [
                        "test5 fails only in release", "test7 fails everywhere", "test8 flaky only in debug",
                        "test0 not run in release", "test1 not run in release", "test600 not run in debug",
                        "test3 skipped everywhere",
                    ])
                #expect(grid.more == 0)
            }
        }

        @Test func testThatAllAreShownInParts() async throws {
            try await withStore { fixture in
                let id = try await Outer.integrate(fixture, ["debug": Outer.tests.tests(0..<10, [9: .failed])])
                let first = try await fixture.store.testGrid(of: id, all: true, limit: 4)
                #expect(first.rows.map(\.name) == ["test9", "test0", "test1", "test2"])
                #expect(first.more == 6)
                let last = try await fixture.store.testGrid(of: id, all: true, limit: 4, after: 8)
                #expect(last.rows.map(\.name) == ["test7", "test8"])
                #expect(last.more == 0)
            }
        }
    }

    @Suite struct GivenABotsTests {
        private typealias Outer = StoreTestHistoryTests

        @Test(
            .proves(.testHistory, "The flaky tests of a bot, how often of how many, and those that go back and forth"))
        func testThatFlakyOnesAndThoseThatGoBackAndForthAreTold() async throws {
            try await withStore { fixture in
                // given: test1 is flaky twice, test2 fails every other time, test3 once, and the release branch has no failure
                for number in 1...6 {
                    var outcomes: [Int: TestResult.Outcome] = number % 3 == 0 ? [1: .flaky] : [:]
                    if number % 2 == 0 { outcomes[2] = .failed }
                    if number == 4 { outcomes[3] = .failed }
                    try await Outer.tests.integrate(fixture, Outer.tests.tests(0..<9, outcomes))
                }
                try await Outer.tests.integrate(fixture, Outer.tests.tests(0..<9), ref: .line)
                // when
                let kit = try name("kit")
                let list = try await fixture.store.flakyTests(of: kit)
                // then
                #expect(list.integrations == 7)
                #expect(
                    list.tests.map { "\($0.name) \($0.flaky) \($0.changes) \($0.latest.number)" } == [
                        "test1 2 0 6", "test2 0 5 6",
                    ])
                #expect(list.tests.map { $0.configurations.map(\.description) } == [["debug"], ["debug"]])
                #expect(try await fixture.store.flakyTests(of: kit, ref: .line).tests == [])
                let newest = try await fixture.store.flakyTests(of: kit, ref: .main, integrations: 2)
                #expect(newest.tests.map(\.name) == ["test1"])
                #expect(newest.integrations == 2)
            }
        }

        @Test func testThatRerunsOfABrokenTestAreNoChanges() async throws {
            try await withStore { fixture in
                // given: it passed, and then fails in five attempts of one integration
                try await Outer.tests.integrate(fixture, Outer.tests.tests(0..<5))
                let first = try await Outer.tests.integrate(fixture, Outer.tests.tests(0..<5, [1: .failed]))
                for number in 2...5 {
                    let id = first.integration
                    _ = try await fixture.store.reopen(
                        id, for: NewRerun(requestedBy: "ann", jobs: [first.job]), at: time(31))
                    let again = AttemptID(integration: id, job: first.job, attempt: number)
                    try await Outer.tests.add(Outer.tests.tests(0..<5, [1: .failed]), to: again, fixture)
                    try await fixture.store.apply(.started, to: id, at: time(32))
                    try await fixture.store.apply(.completed(.testFailures, triggerFailed: false), to: id, at: time(33))
                }
                // then
                #expect(try await fixture.store.flakyTests(of: name("kit")).tests == [])
            }
        }

        @Test func testThatTheyAreFoundByAPartOfTheirNameWithTheirNewestOutcomes() async throws {
            try await withStore { fixture in
                // given
                let kit = try name("kit")
                #expect(try await fixture.store.namedTests(of: kit).integration == nil)
                try await Outer.fill(fixture)
                let id = try await Outer.integrate(
                    fixture,
                    ["debug": Outer.tests.tests(5..<600, [10: .failed]), "release": Outer.tests.tests(0..<600)])
                // when
                let found = try await fixture.store.namedTests(of: kit, containing: "suite0/TEST1", limit: 3)
                // then
                #expect(found.integration == id)
                #expect(
                    found.tests.map { "\($0.spread.name) \($0.spread.sentence(found.configurations))" } == [
                        "test1 not run in debug", "test10 fails only in debug", "test11 passes everywhere",
                    ])
                let rest = try await fixture.store.namedTests(
                    of: kit, containing: "suite0/TEST1", limit: 100, after: try #require(found.next))
                #expect(rest.tests.map(\.spread.name) == (12...19).map { "test\($0)" })
                #expect(rest.next == nil)
                #expect(try await fixture.store.namedTests(of: kit, containing: "%").tests == [])
                #expect(try await fixture.store.namedTests(of: kit, containing: "test_").tests == [])
            }
        }
    }
}
