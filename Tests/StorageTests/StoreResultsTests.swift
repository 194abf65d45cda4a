import GRDB
import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct StoreResultsTests {
    static func attempt(_ fixture: StoreFixture, job: String = "debug") async throws -> AttemptID {
        try await fixture.store.addAttempt(to: fixture.queue().id, job: name(job), at: time(11)).id
    }

    static func results(_ tests: Int = 3, verdict: Verdict = .testFailures) throws -> AttemptResults {
        var counts = Counts()
        counts.tests = tests
        counts.testFailures = 1
        return AttemptResults(
            findings: (0..<tests).map {
                StoredFinding(
                    fingerprint: "f\($0)", content: "c\($0)",
                    finding: Finding(
                        category: .testFailure, message: "expected \($0)", rule: "Suite/test", path: "Tests/a.swift",
                        line: $0 + 1, column: 5), step: .testing)
            },
            tests: (0..<tests).map {
                TestResult(
                    suite: "Suite", name: "test\($0)", outcome: $0 == 0 ? .failed : .passed,
                    duration: .milliseconds($0), message: $0 == 0 ? "expected" : nil)
            },
            artifacts: [
                Artifact(configuration: try name("debug"), path: "a/b.tar.zst", size: ByteCount(5), sha256: "ab")
            ],
            counts: counts, analysis: "not analyzed", tested: "\(tests) tests", notes: ["report unreadable: x.xml"],
            verdict: verdict, reason: "1 test failed")
    }

    @Suite struct GivenAnAttempt {
        @Test(.proves(.storage, "Attempts: UNIQUE(integration, job, attempt)"))
        func testThatAttemptsCountPerJob() async throws {
            try await withStore { fixture in
                let id = try await fixture.queue().id
                for job in ["debug", "debug", "release"] {
                    _ = try await fixture.store.addAttempt(to: id, job: name(job), at: time(11))
                }
                let names = try await fixture.store.attempts(of: id).map(\.id.description)
                #expect(names == ["kit#1/debug/1", "kit#1/debug/2", "kit#1/release/1"])
            }
        }

        @Test func testThatItLivesThroughItsStates() async throws {
            try await withStore { fixture in
                // given
                let id = try await StoreResultsTests.attempt(fixture)

                // when
                try await fixture.store.apply(.entered(.building), to: id, at: time(20))
                let running = try await fixture.store.apply(.entered(.testing), to: id, at: time(21))
                try await fixture.store.apply(.ended, to: id, at: time(30))
                try await fixture.store.apply(
                    .processed(.internalError), to: id, at: time(40), reason: "the supervisor exited without a result")

                // then
                #expect(running.state == .running(.testing))
                let record = try #require(try await fixture.store.attempts(of: id.integration).first)
                #expect(record.state == .processed(.internalError))
                #expect([record.queuedAt, record.startedAt, record.endedAt] == [time(11), time(20), time(30)])
                #expect(record.reason == "the supervisor exited without a result")
            }
        }

        @Test(
            .proves(
                .jobs,
                "After a stop of the machine, mirrors are verified by their next fetch and workspaces start from scratch; a kill of the daemon doubts nothing"
            ))
        func testThatItIsUnfinishedUntilItHasAVerdict() async throws {
            try await withStore { fixture in
                // given
                let before = try await fixture.store.hasUnfinishedAttempts()
                let id = try await StoreResultsTests.attempt(fixture)

                // when
                var found = [before, try await fixture.store.hasUnfinishedAttempts()]
                for event in [AttemptState.Event.entered(.building), .ended, .processed(.internalError)] {
                    try await fixture.store.apply(event, to: id, at: time(20), reason: "a test")
                    found.append(try await fixture.store.hasUnfinishedAttempts())
                }

                // then
                #expect(found == [false, true, true, true, false])
            }
        }

        @Test func testThatAStepNeverGoesBack() async throws {
            try await withStore { fixture in
                let id = try await StoreResultsTests.attempt(fixture)
                try await fixture.store.apply(.entered(.testing), to: id, at: time(20))
                let before = try await fixture.store.attempts(of: id.integration)
                await expectFailure(.illegalTransition) {
                    try await fixture.store.apply(.entered(.building), to: id, at: time(21))
                }
                #expect(try await fixture.store.attempts(of: id.integration) == before)
            }
        }

        @Test func testThatAStepIsStoredAsItStartsAndAsItEnds() async throws {
            try await withStore { fixture in
                // given
                let id = try await StoreResultsTests.attempt(fixture)
                let first = StepRecord(index: 0, step: .building, name: "build", startedAt: time(20))
                var second = StepRecord(index: 1, step: .testing, name: "test", startedAt: time(25))

                // when
                try await fixture.store.record(step: second, of: id)
                try await fixture.store.record(step: first, of: id)
                (second.endedAt, second.signal, second.limit) = (time(30), 9, "time")
                try await fixture.store.record(step: second, of: id)

                // then
                #expect(try await fixture.store.attempts(of: id.integration).first?.steps == [first, second])
            }
        }
    }

    @Suite struct GivenResults {
        @Test(
            .proves(.storage, "Tests and artifacts are shown once their attempt is processed"),
            .proves(
                .storage,
                "The start of an integration takes few transactions: the recipe with the first attempts, an attempt's few results, its few issues with its end"
            ))
        func testThatTheyAreReadAsStored() async throws {
            try await withStore { fixture in
                // given
                let (store, id) = (fixture.store, try await StoreResultsTests.attempt(fixture))
                let results = try StoreResultsTests.results(250)

                // when
                try await store.storeResults(results, of: id, at: time(40))

                // then
                let tests = try await store.tests(of: id.integration)
                #expect(tests.map(\.result) == results.tests)
                #expect(Set(tests.map(\.configuration.description)) == ["debug"])
                #expect(try await store.tests(of: id.integration, failingOnly: true).map(\.result.name) == ["test0"])
                #expect(try await store.tests(of: id.integration, configuration: name("release")) == [])
                #expect(try await store.findings(of: id) == results.findings)
                #expect(
                    try await store.artifacts(of: id.integration)
                        == results.artifacts.map { StoredArtifact(attempt: id, artifact: $0) })
                let record = try #require(try await store.attempts(of: id.integration).first)
                #expect(record.state == .processed(.testFailures))
                #expect(record.summary == Summary(counts: results.counts))
                #expect(record.analysis == "not analyzed")
                #expect(record.tested == "250 tests")
                #expect(record.notes == ["report unreadable: x.xml"])
                #expect(record.reason == "1 test failed")
            }
        }

        @Test(.proves(.storage, "Tests and artifacts are shown once their attempt is processed"))
        func testThatNothingShowsBeforeTheAttemptIsProcessed() async throws {
            try await withStore { fixture in
                // given: the write of the last row fails
                let (store, id) = (fixture.store, try await StoreResultsTests.attempt(fixture))
                try await store.writer.write("break") {
                    try $0.db.execute(
                        sql: """
                            CREATE TRIGGER broken BEFORE UPDATE ON attempts BEGIN SELECT RAISE(ABORT, 'broken'); END
                            """)
                }

                // when
                await expectFailure(.constraint) {
                    try await store.storeResults(StoreResultsTests.results(250), of: id, at: time(40))
                }

                // then: the rows exist, and are not shown
                let rows = try await store.read("count") { try Int.fetchOne($0, sql: "SELECT count(*) FROM findings") }
                #expect(rows == 250)
                let tests = try await store.read("count") {
                    try Int.fetchOne($0, sql: "SELECT count(*) FROM test_rows")
                }
                #expect(tests == 1)
                #expect(try await store.tests(of: id.integration) == [])
                #expect(try await store.findings(of: id) == [])
                #expect(try await store.artifacts(of: id.integration) == [])

                // and: the rest is replaced
                try await store.writer.write("mend") { try $0.db.execute(sql: "DROP TRIGGER broken") }
                try await store.storeResults(StoreResultsTests.results(3), of: id, at: time(40))
                #expect(try await store.tests(of: id.integration).count == 3)
                #expect(try await store.findings(of: id).count == 3)
            }
        }

        @Test(.proves(.storage, "Attempts: UNIQUE(integration, job, attempt)"))
        func testThatAnAttemptIsProcessedOnce() async throws {
            try await withStore { fixture in
                let (store, id) = (fixture.store, try await StoreResultsTests.attempt(fixture))
                try await store.storeResults(StoreResultsTests.results(3), of: id, at: time(40))
                await expectFailure(.illegalTransition) {
                    try await store.storeResults(StoreResultsTests.results(5), of: id, at: time(41))
                }
                #expect(try await store.tests(of: id.integration).count == 3)
            }
        }

        @Test func testThatARerunReplacesWhatIsShown() async throws {
            try await withStore { fixture in
                // given
                let (store, first) = (fixture.store, try await StoreResultsTests.attempt(fixture))
                try await store.storeResults(StoreResultsTests.results(3), of: first, at: time(40))
                let second = try await store.addAttempt(to: first.integration, job: first.job, at: time(50)).id
                #expect(try await store.tests(of: first.integration).count == 3)

                // when
                try await store.storeResults(StoreResultsTests.results(7), of: second, at: time(60))

                // then
                #expect(try await store.tests(of: first.integration).count == 7)
                #expect(try await store.artifacts(of: first.integration).map(\.attempt) == [second])
                #expect(try await store.findings(of: first).count == 3)
            }
        }

        @Test func testThatTooManyAreRefused() async throws {
            try await withStore { fixture in
                let id = try await StoreResultsTests.attempt(fixture)
                let artifact = Artifact(configuration: nil, path: "a", size: ByteCount(0), sha256: "")
                let results = AttemptResults(
                    artifacts: Array(repeating: artifact, count: AttemptResults.maximumRows + 1), analysis: "clean",
                    tested: "", verdict: .succeeded)
                await expectFailure(.tooLarge) { try await fixture.store.storeResults(results, of: id, at: time(1)) }
            }
        }
    }

    @Suite struct GivenIssues {
        private func issues(_ count: Int, _ status: Model.Issue.Status = .new) throws -> [Model.Issue] {
            try (0..<count).map {
                try Model.Issue(
                    fingerprint: "f\($0)", content: "c", status: status,
                    finding: Finding(category: .warning, message: "unused \($0)", path: "a.swift", line: 3), age: $0,
                    since: $0 + 1, configurations: [name("debug"), name("release")],
                    introducedBy: $0 % 2 == 0
                        ? nil
                        : Introduction(
                            commit: commit($0 % 9), author: "Ada", email: "a@b", strategy: .blameLine,
                            confidence: .low),
                    silence: $0 % 3 == 0 ? nil : Silence(reason: "known", person: "ada", at: time(1), expires: time(9)))
            }
        }

        @Test(.proves(.storage, "Issues are shown once their integration's comparison is complete"))
        func testThatTheyShowOnceComplete() async throws {
            try await withStore { fixture in
                // given
                let id = try await fixture.queue().id
                let expected = try issues(250)
                #expect(try await fixture.store.issues(of: id) == [])

                // when
                var summary = Summary()
                summary.counts.warnings = 250
                summary.change.warnings = -3
                try await fixture.store.completeIssues(of: id, issues: expected, summary: summary, at: time(50))

                // then
                #expect(try await fixture.store.issues(of: id) == expected)
                #expect(try await fixture.store.integration(id)?.summary == summary)
            }
        }

        @Test func testThatARerunsIssuesReplaceThem() async throws {
            try await withStore { fixture in
                let id = try await fixture.queue().id
                try await fixture.store.completeIssues(of: id, issues: issues(250), summary: Summary(), at: time(50))
                try await fixture.store.completeIssues(
                    of: id, issues: issues(2, .resolved), summary: Summary(), at: time(60))
                #expect(try await fixture.store.issues(of: id) == issues(2, .resolved))
                let rows = try await fixture.store.read("count") {
                    try Int.fetchOne($0, sql: "SELECT count(*) FROM issues")
                }
                #expect(rows == 2)
            }
        }

        @Test func testThatTheOldOnesShowUntilTheNewAreComplete() async throws {
            try await withStore { fixture in
                // given
                let id = try await fixture.queue().id
                try await fixture.store.completeIssues(of: id, issues: issues(2), summary: Summary(), at: time(50))
                try await fixture.store.writer.write("break") {
                    try $0.db.execute(
                        sql: """
                            CREATE TRIGGER broken BEFORE INSERT ON issues WHEN NEW.place = 150
                            BEGIN SELECT RAISE(ABORT, 'broken'); END
                            """)
                }

                // when
                await expectFailure(.constraint) {
                    try await fixture.store.completeIssues(
                        of: id, issues: issues(200, .resolved), summary: Summary(), at: time(60))
                }

                // then
                #expect(try await fixture.store.issues(of: id) == issues(2))
            }
        }
    }

    @Suite struct GivenATrigger {
        @Test(.proves(.storage, "Triggers: UNIQUE(integration, trigger, attempt)"))
        func testThatItIsStoredAsItStartsAndAsItEnds() async throws {
            try await withStore { fixture in
                // given
                let id = try await fixture.queue().id
                var record = TriggerRecord(
                    integration: id, trigger: try name("publish"), attempt: 1, phase: .after, state: .running,
                    startedAt: time(50))
                try await fixture.store.recordTrigger(record)

                // when
                (record.state, record.reason, record.endedAt, record.log) = (.failed, "no space", time(51), "a/log")
                try await fixture.store.recordTrigger(record)
                var second = record
                second.attempt = 2
                try await fixture.store.recordTrigger(second)

                // then
                #expect(try await fixture.store.triggers(of: id) == [record, second])
            }
        }

        @Test func testThatOneOfAnUnknownIntegrationIsRefused() async throws {
            try await withStore { fixture in
                let record = TriggerRecord(
                    integration: IntegrationID(bot: try name("kit"), number: 9), trigger: try name("publish"),
                    attempt: 1, phase: .before, state: .running, startedAt: time(50))
                await expectFailure(.notFound, "kit#9") { try await fixture.store.recordTrigger(record) }
            }
        }
    }
}
