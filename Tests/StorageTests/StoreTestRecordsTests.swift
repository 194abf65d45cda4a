import GRDB
import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct StoreTestRecordsTests {
    /// Returns the tests `test0` …, with the outcome of each that is not passed, by number.
    static func tests(_ numbers: some Sequence<Int>, _ outcomes: [Int: TestResult.Outcome] = [:]) -> [TestResult] {
        numbers.map { number in
            let outcome = outcomes[number] ?? .passed
            return TestResult(
                suite: "Suite\(number / 100)", name: "test\(number)", outcome: outcome,
                duration: .milliseconds(number % 700 + 1), message: outcome == .passed ? nil : "\(outcome) \(number)")
        }
    }

    /// Stores an integration that ends with these tests in one configuration.
    @discardableResult
    static func integrate(
        _ fixture: StoreFixture, _ tests: [TestResult], job: String = "debug", ref: RefName = .main,
        verdict: Verdict = .succeeded
    ) async throws -> AttemptID {
        let store = fixture.store
        let id = try await fixture.queue(ref: ref).id
        try await store.apply(.started, to: id, at: time(20))
        let attempt = try await store.addAttempt(to: id, job: try name(job), at: time(21)).id
        try await add(tests, to: attempt, fixture, verdict: verdict)
        try await store.apply(.completed(verdict, triggerFailed: false), to: id, at: time(30))
        return attempt
    }

    static func add(
        _ tests: [TestResult], to attempt: AttemptID, _ fixture: StoreFixture, verdict: Verdict = .succeeded
    ) async throws {
        try await fixture.store.storeResults(
            AttemptResults(tests: tests, analysis: "clean", tested: "\(tests.count) tests", verdict: verdict),
            of: attempt, at: time(25))
    }

    private static func count(_ what: String, _ fixture: StoreFixture) async throws -> Int {
        try await fixture.store.read("count") { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(what)") ?? -1 }
    }

    @Test(arguments: [50, 3000]) func testThatTestsAreReadAsTheyWereStored(_ count: Int) async throws {
        try await withStore { fixture in
            // given
            var tests = Self.tests(0..<count, [3: .failed, 7: .skipped, 9: .crashed, 11: .knownIssue, 13: .flaky])
            tests[7].path = "Tests/a.swift"
            tests[20].path = "Tests/b.swift"
            tests[20].line = 12
            tests[30].message = String(repeating: "long ", count: 200)
            tests[31].duration = nil
            // when: twice, the second time against a profile and in another order
            for order in [tests, tests.reversed()] {
                let attempt = try await Self.integrate(fixture, order)
                // then
                let read = try await fixture.store.tests(of: attempt.integration)
                #expect(read.map(\.result) == tests)
            }
            // and: other tests, and fewer
            var others = Array(tests[(count / 2)...]) + Self.tests(count..<count + 5)
            others[0].path = "Tests/c.swift"
            let attempt = try await Self.integrate(fixture, others)
            #expect(try await fixture.store.tests(of: attempt.integration).map(\.result) == others)
            #expect(try await fixture.damage() == [])
        }
    }

    @Test(
        .proves(
            .testHistory,
            "Per attempt one compressed record of all its tests; rows only for what is not passed or has changed against the branch's integration before"
        ))
    func testThatOnlyWhatIsNotPassedOrHasChangedHasARow() async throws {
        try await withStore { fixture in
            // given
            try await Self.integrate(fixture, Self.tests(0..<1000, [5: .failed, 6: .skipped]))
            #expect(try await Self.count("test_rows", fixture) == 1)
            // when: one is fixed, one breaks, one is new, one is still skipped
            let second = try await Self.integrate(fixture, Self.tests(0..<1001, [6: .skipped, 8: .crashed]))
            // then
            let rows = try await fixture.store.read("read") { db in
                try Row.fetchAll(
                    db,
                    sql: """
                        SELECT name, outcome, before FROM test_rows JOIN test_names ON test_names.id = test
                        WHERE attempt = (SELECT max(id) FROM attempts) ORDER BY name
                        """
                ).map { "\($0["name"] as String) \($0["before"] as String? ?? "-") \($0["outcome"] as String)" }
            }
            #expect(rows == ["test1000 - passed", "test5 failed passed", "test8 passed crashed"])
            #expect(
                try await fixture.store.tests(of: second.integration, failingOnly: true).map(\.result.name) == ["test8"]
            )
        }
    }

    @Test(
        .proves(
            .testHistory,
            "Per attempt one compressed record of all its tests; rows only for what is not passed or has changed against the branch's integration before"
        ))
    func testThatABranchIsComparedWithItself() async throws {
        try await withStore { fixture in
            try await Self.integrate(fixture, Self.tests(0..<600, [5: .skipped]))
            try await Self.integrate(fixture, Self.tests(0..<600), ref: .line)
            try await Self.integrate(fixture, Self.tests(0..<600), job: "release")
            #expect(try await Self.count("test_rows", fixture) == 0)
        }
    }

    @Test func testThatOneNameTwiceIsTwoTests() async throws {
        try await withStore { fixture in
            let tests = Self.tests([1, 1, 2, 1], [2: .failed])
            let attempt = try await Self.integrate(fixture, tests)
            let names = try await fixture.store.tests(of: attempt.integration).map(\.result.name)
            #expect(names == ["test1", "test1 (2)", "test2", "test1 (3)"])
        }
    }

    @Test func testThatTheyComeInParts() async throws {
        try await withStore { fixture in
            // given: two configurations
            let first = try await Self.integrate(fixture, Self.tests(0..<700, [4: .failed, 600: .skipped]))
            let id = first.integration
            _ = try await fixture.store.reopen(id, for: NewRerun(requestedBy: "ann", jobs: []), at: time(31))
            let second = try await fixture.store.addAttempt(to: id, job: try name("release"), at: time(32)).id
            try await Self.add(Self.tests(100..<300, [120: .crashed]), to: second, fixture)
            let all = try await fixture.store.tests(of: id)
            #expect(all.count == 900)
            // when
            var (parts, next): ([StoredTest], Int64?) = ([], 0)
            var sizes: [Int] = []
            while let after = next {
                let page = try await fixture.store.testPage(of: id, limit: 350, after: Int(after))
                parts += page.items
                sizes.append(page.items.count)
                next = page.next
            }
            // then
            #expect(parts == all)
            #expect(sizes == [350, 350, 200])
            let skipped = try await fixture.store.testPage(of: id, outcomes: [.skipped, .crashed], limit: 1)
            #expect(skipped.items.map(\.result.name) == ["test600"])
            #expect(skipped.next == 1)
            let rest = try await fixture.store.testPage(of: id, outcomes: [.skipped, .crashed], limit: 5, after: 1)
            #expect(rest.items.map(\.result.name) == ["test120"])
            #expect(rest.next == nil)
        }
    }

    @Test(
        .proves(
            .testHistory,
            "20,000 tests × 5 configurations × 5,000 integrations: one integration stored in ≤ 1 s, any answer ≤ 50 ms p95; measured, with the size on disk"
        ))
    func testThatAProfileServesManyRecordsAndNoMore() async throws {
        try await withStore { fixture in
            let tests = Self.tests(0..<600)
            for _ in 0...Store.recordsOfAProfile { try await Self.integrate(fixture, tests) }
            #expect(try await Self.count("test_profiles", fixture) == 2)
            // A list that is mostly different makes a profile of its own.
            try await Self.integrate(fixture, Self.tests(500..<1100))
            #expect(try await Self.count("test_profiles", fixture) == 3)
        }
    }

    @Test(
        .proves(
            .testHistory,
            "No record needs more than one other, so that old integrations can go; a damaged one is said, and never a trap"
        ))
    func testThatWhatIsLeftIsReadAfterOlderOnesWentAway() async throws {
        try await withStore { fixture in
            // given: records against one profile, which the first made
            for _ in 1...3 { try await Self.integrate(fixture, Self.tests(0..<600, [1: .failed])) }
            let last = try await Self.integrate(fixture, Self.tests(500..<1100))
            // when
            try await fixture.store.removeIntegrations(of: try name("kit"), below: 3)
            // then
            let third = IntegrationID(bot: try name("kit"), number: 3)
            #expect(try await fixture.store.tests(of: third).count == 600)
            #expect(try await Self.count("test_profiles", fixture) == 2)
            #expect(try await Self.count("test_records", fixture) == 2)
            // The profile is removed with the last record that needs it
            try await fixture.store.removeIntegrations(of: try name("kit"), below: 4)
            #expect(try await Self.count("test_profiles", fixture) == 1)
            #expect(try await fixture.store.tests(of: last.integration).count == 600)
            #expect(try await fixture.damage() == [])
        }
    }

    @Test(
        .proves(
            .testHistory,
            "No record needs more than one other, so that old integrations can go; a damaged one is said, and never a trap"
        ), arguments: ["test_records", "test_profiles"])
    func testThatADamagedRecordIsSaid(_ table: String) async throws {
        try await withStore { fixture in
            let attempt = try await Self.integrate(fixture, Self.tests(0..<600))
            try await fixture.store.writer.write("damage") {
                try $0.db.execute(sql: "UPDATE \(table) SET record = x'0100FF'")
            }
            await expectFailure(.corrupt, "contains values that Martlet never writes") {
                try await fixture.store.tests(of: attempt.integration)
            }
        }
    }
}
