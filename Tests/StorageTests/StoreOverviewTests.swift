import GRDB
import Model
import TestSupport
import Testing

@testable import Storage

/// What the overview, a bot's plots and the queue's forecast read.
@Suite struct StoreOverviewTests {
    private static func branch(_ name: String) -> RefName { RefName(branch: name) }

    /// Queues an integration and ends it.
    @discardableResult
    private static func complete(
        _ fixture: StoreFixture, _ number: Int, ref: RefName = .main, _ verdict: Verdict = .succeeded,
        from start: Int64 = 100, seconds: Int64 = 60
    ) async throws -> IntegrationRecord {
        let record = try await fixture.queue(number, ref: ref)
        try await fixture.store.apply(.started, to: record.id, at: time(start))
        return try await fixture.store.apply(
            .completed(verdict, triggerFailed: false), to: record.id, at: time(start + seconds))
    }

    @Test(
        .proves(.web, "The overview has the default branch first, then live branches; deleted branches are left out"))
    func testThatTheDefaultBranchComesFirstAndDeletedBranchesGo() async throws {
        try await withStore { fixture in
            // given
            let refs = [RefName.main, Self.branch("old"), Self.branch("gone"), Self.branch("new"), RefName(tag: "1.0")]
            let heads = Dictionary(uniqueKeysWithValues: try refs.map { ($0, try commit(1)) })
            try await fixture.scan(heads, watchers: [])
            for ref in refs { try await Self.complete(fixture, 1, ref: ref) }
            try await fixture.scan(heads.filter { $0.key != Self.branch("gone") }, watchers: [])
            // when
            let all = try await fixture.store.botOverviews(branches: 8)
            let two = try await fixture.store.botOverviews(branches: 2)
            // then
            #expect(all[0].branches.map(\.ref.shortName) == ["main", "new", "old", "1.0"])
            #expect(all[0].branches.map(\.isDefault) == [true, false, false, false])
            #expect(all[0].total == 4 && two[0].total == 4)
            #expect(two[0].branches.map(\.ref.shortName) == ["main", "new"])
        }
    }

    @Test(.proves(.web, "The last verdict stays visible while a new integration is under way"))
    func testThatTheLastVerdictStaysWhileANewOneIsUnderWay() async throws {
        try await withStore { fixture in
            // given
            try await Self.complete(fixture, 1, .testFailures)
            try await Self.complete(fixture, 2, .canceled)
            let running = try await fixture.queue(3)
            _ = try await fixture.queue(4)
            try await fixture.store.apply(.started, to: running.id, at: time(300))
            // when
            let branch = try #require(try await fixture.store.botOverviews(branches: 8)[0].branches.first)
            // then
            #expect(branch.last?.number == 1 && branch.last?.state.verdict == .testFailures)
            #expect(branch.current.number == 3, "the one that runs, not the newest")
            #expect(branch.strip.items.map(\.number) == [1, 2])
        }
    }

    @Test(.proves(.web, "The overview has a strip of the last 20 results of each branch with their durations"))
    func testThatTheStripHasTheLastTwentyResultsWithTheirDurations() async throws {
        try await withStore { fixture in
            for number in 1...22 {
                try await Self.complete(
                    fixture, number, number == 21 ? .buildErrors : .succeeded, seconds: Int64(number))
            }
            let ended = try await fixture.queue(23)
            try await fixture.store.cancel(queued: ended.id, at: time(200), reason: "canceled by ann")
            // when
            let items = try #require(try await fixture.store.botOverviews(branches: 1)[0].branches.first).strip.items
            // then
            #expect(items.map(\.number) == Array(4...23))
            #expect(
                items.suffix(3).map(\.result) == [.verdict(.buildErrors), .verdict(.succeeded), .verdict(.canceled)])
            #expect(items.suffix(3).map(\.duration) == [.seconds(21), .seconds(22), nil])
        }
    }

    @Test func testThatADamagedStripShowsWhatCanBeRead() {
        #expect(ResultStrip(text: "").items.isEmpty)
        let strip = ResultStrip(text: "3:succeeded:1:50 x:y:z 2:nothing:0:1 1:test-failures:0:")
        #expect(strip.items.map(\.number) == [1, 3])
        #expect(strip.items.map(\.result) == [.verdict(.testFailures), .triggerError])
    }

    @Test(.proves(.web, "The overview counts what is red, runs and waits, and filters by text and state"))
    func testThatTheOverviewIsFiltered() async throws {
        try await withStore { fixture in
            // given
            let store = fixture.store
            try await Self.complete(fixture, 1)
            try await Self.complete(fixture, 2, ref: Self.branch("a_b"), .buildErrors)
            try await Self.complete(fixture, 3, ref: Self.branch("axb"))
            let running = try await fixture.queue(4, ref: Self.branch("axb"))
            try await store.apply(.started, to: running.id, at: time(300))
            _ = try await fixture.queue(5, ref: .main)
            func shown(_ text: String?, _ state: OverviewFilter.State? = nil) async throws -> [String] {
                try await store.botOverviews(OverviewFilter(text: text, state: state), branches: 8)
                    .flatMap(\.branches).map(\.ref.shortName).sorted()
            }
            // then
            #expect(try await store.redRefs() == 1)
            #expect(try await shown("a_b") == ["a_b"], "an underscore stands for itself")
            #expect(try await shown("KIT").count == 3)
            #expect(try await shown("nothing").isEmpty)
            #expect(try await shown(nil, .red) == ["a_b"])
            #expect(try await shown(nil, .running) == ["axb"])
            #expect(try await shown(nil, .waiting) == ["main"])
            #expect(try await shown("axb", .red).isEmpty)
        }
    }

    @Test(.proves(.web, "A bot's page has plots over the last 100 integrations of a branch, and their values as CSV"))
    func testThatATrendIsTheLastHundredOfABranch() async throws {
        try await withStore { fixture in
            // given
            let (store, kit) = (fixture.store, try name("kit"))
            for number in 1...101 { try await Self.complete(fixture, number % 9, seconds: Int64(number)) }
            try await Self.complete(fixture, 1, ref: .line, .testFailures)
            try await Self.complete(fixture, 1, .canceled)
            // when
            let main = try await store.trend(of: kit, ref: .main)
            let all = try await store.trend(of: kit, ref: nil)
            // then
            #expect(main.map(\.number) == Array(2...101))
            #expect(main.last?.duration == .seconds(101) && main.last?.waited == .seconds(90))
            #expect(main.last?.coverage == nil && main.last?.summary == nil)
            #expect(all.map(\.number) == Array(3...102))
            #expect(all.last?.result == .verdict(.testFailures))
        }
    }

    @Test func testThatTheSlowestStepsAreThoseWithTheLongestMedian() async throws {
        try await withStore { fixture in
            // given: three integrations, whose build gets slower
            let (store, kit) = (fixture.store, try name("kit"))
            for number in 1...3 {
                let record = try await fixture.queue(number)
                try await store.apply(.started, to: record.id, at: time(100))
                let attempt = try await store.addAttempt(to: record.id, job: name("debug"), at: time(100))
                for (index, step) in [JobStep.building, .testing].enumerated() {
                    try await store.apply(.entered(step), to: attempt.id, at: time(100))
                    try await store.record(
                        step: StepRecord(
                            index: index, step: step, name: "make \(step.rawValue)", startedAt: time(100),
                            endedAt: time(100 + Int64(step == .building ? number * number : 2)), exit: 0),
                        of: attempt.id)
                }
                try await store.apply(.ended, to: attempt.id, at: time(110))
                try await store.storeResults(
                    AttemptResults(analysis: "clean", tested: "by exit status alone", verdict: .succeeded),
                    of: attempt.id, at: time(110))
                try await store.apply(.completed(.succeeded, triggerFailed: false), to: record.id, at: time(120))
            }
            // when
            let steps = try await store.slowestSteps(of: kit, ref: .main, limit: 2)
            // then
            #expect(steps.map(\.step) == [.building, .testing])
            #expect(steps.map(\.median) == [.seconds(4), .seconds(2)])
            #expect(steps.map(\.runs) == [3, 3])
            #expect(try await store.slowestSteps(of: kit, ref: .line, limit: 2).isEmpty)
        }
    }

    @Test func testThatTheQueueKnowsHowLongABranchUsuallyTakes() async throws {
        try await withStore { fixture in
            // given
            let store = fixture.store
            for (number, seconds) in [(1, 10), (2, 30), (3, 20)] {
                try await Self.complete(fixture, number, seconds: Int64(seconds))
            }
            let running = try await fixture.queue(4)
            try await store.apply(.started, to: running.id, at: time(500))
            _ = try await store.addAttempt(to: running.id, job: name("debug"), at: time(500))
            for number in 5...7 { _ = try await fixture.queue(number, ref: .line) }
            // when
            let entries = try await store.queueEntries(limit: 2)
            // then
            #expect(entries.running.map(\.outline.id.number) == [4] && entries.total == 3)
            #expect(entries.running.map(\.past.median) == [.seconds(20)])
            #expect(entries.running.map(\.waitingJobs) == [1] && entries.running.map(\.runningJobs) == [0])
            #expect(entries.queued.map(\.outline.id.number) == [5, 6])
            #expect(
                entries.queued.map(\.past.median) == [.seconds(20), .seconds(20)], "its bot's, as its branch has none")
        }
    }
}
