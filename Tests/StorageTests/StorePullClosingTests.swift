import GRDB
import Model
import TestSupport
import Testing

@testable import Storage

/// Pull requests whose closing was never announced, and the number that is remembered.
@Suite struct StorePullClosingTests {
    private static func opened(_ fixture: StoreFixture) async throws -> (main: CommitID, head: CommitID) {
        let (main, head) = (try commit(1), try commit(7))
        try await fixture.tell(try StoreFixture.claim(), id: "1")
        try await fixture.scanPull(head, heads: [.main: main])
        return (main, head)
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: a closing that was never announced is found: its ref is gone for ten minutes, its head is in its base, or 180 days passed without an event"
        ))
    func testThatOneWhoseRefIsGoneForTenMinutesIsClosed() async throws {
        try await withStore { fixture in
            // given
            let (main, head) = try await Self.opened(fixture)

            // when: the head is missing, found again, and missing
            try await fixture.scanPull(nil, heads: [.main: main], at: 1000)
            try await fixture.scanPull(head, heads: [.main: main], at: 1300)
            try await fixture.scanPull(nil, heads: [.main: main], at: 1599)
            try await fixture.scanPull(nil, heads: [.main: main], at: 2198)
            #expect(try await fixture.openPull() != nil)
            try await fixture.scanPull(nil, heads: [.main: main], at: 2199)

            // then: with its waiting integration
            #expect(try await fixture.openPull() == nil)
            let ended = try #require(try await fixture.ofPull().first)
            #expect(ended.state.verdict == .canceled && ended.reason == "pull request 12 was closed")
            // An event that is no newer than the known state gives the reason
            try await fixture.tell(try StoreFixture.claim(), id: "2")
            try await fixture.scanPull(head, heads: [.main: main], at: 2300)
            let late = try await fixture.delivery("2")
            #expect(late.reason == "pull request; it is closed: the repository lists refs/pull/12/head no more")
            // A newer one opens it
            try await fixture.tell(try StoreFixture.claim(at: 101, .reopened), id: "3")
            try await fixture.scanPull(head, heads: [.main: main], at: 2400)
            #expect(try await fixture.delivery("3").outcome == .integrated)
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: a closing that was never announced is found: its ref is gone for ten minutes, its head is in its base, or 180 days passed without an event"
        ))
    func testThatOneWhoseHeadWasNeverThereHasADay() async throws {
        try await withStore { fixture in
            // given
            try await fixture.tell(try StoreFixture.claim(), id: "1")
            try await fixture.scanPull(nil, heads: [.main: try commit(1)], at: 100)

            // when, then
            try await fixture.scanPull(nil, heads: [.main: try commit(1)], at: 86_499)
            #expect(try await fixture.openPull() != nil)
            try await fixture.scanPull(nil, heads: [.main: try commit(1)], at: 86_500)
            #expect(try await fixture.openPull() == nil)
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: a closing that was never announced is found: its ref is gone for ten minutes, its head is in its base, or 180 days passed without an event"
        ))
    func testThatOneWhoseHeadIsInItsBaseIsClosed() async throws {
        try await withStore { fixture in
            // given
            let (main, head) = try await Self.opened(fixture)
            #expect(try await fixture.openPull()?.baseTip == main)
            let next = try commit(2)

            // when: it was looked for and is missing; then an old answer; then one about another head
            for (judged, isOpen) in [
                (JudgedPull(head: head, tip: next, isMerged: false), true),
                (JudgedPull(head: head, tip: main, isMerged: true), true),
                (JudgedPull(head: main, tip: next, isMerged: true), true),
                (JudgedPull(head: head, tip: next, isMerged: true), false),
            ] {
                try await fixture.scanPull(head, heads: [.main: next], judged: [12: judged])
                // then
                #expect(try await (fixture.openPull() != nil) == isOpen, "\(judged)")
                if isOpen { #expect(try await fixture.openPull()?.judgedTip == next) }
            }
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: a closing that was never announced is found: its ref is gone for ten minutes, its head is in its base, or 180 days passed without an event"
        ))
    func testThatOneOfWhichNothingIsHeardForHalfAYearIsClosed() async throws {
        try await withStore { fixture in
            // given: a head moves, which counts as an event
            let (main, _) = try await Self.opened(fixture)
            let days: Int64 = 180 * 86_400
            try await fixture.scanPull(try commit(8), heads: [.main: main], at: 1000)

            // when, then
            try await fixture.scanPull(try commit(8), heads: [.main: main], at: days + 1000)
            #expect(try await fixture.openPull() != nil)
            try await fixture.scanPull(try commit(8), heads: [.main: main], at: days + 1001)
            #expect(try await fixture.openPull() == nil)
        }
    }

    // MARK: How many

    /// Inserts `count` pull requests with the highest numbers, open, or closed at times that rise with the number.
    private static func insert(_ fixture: StoreFixture, _ count: Int, isOpen: Bool) async throws {
        try await fixture.change(
            """
            WITH RECURSIVE n(i) AS (SELECT 101 UNION ALL SELECT i + 1 FROM n WHERE i < 100 + \(count))
            INSERT INTO pull_requests (repository, number, ref, place, base, is_open, told_at, moved_at, closed_at)
            SELECT repositories.id, i, 'refs/pull/' || i || '/head', 'refs/pull/' || i || '/head', 'refs/heads/main',
                \(isOpen ? 1 : 0), 0, 100000, \(isOpen ? "NULL" : "100000 + i") FROM n, repositories
            """)
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: silences, branch health and lists of branches do not include theirs; rows are bounded, and with more than 2,000 none is called closed"
        ))
    func testThatOneBeyondThoseThatAreLookedAtIsNotCalledClosed() async throws {
        try await withStore { fixture in
            // given: more with higher numbers than a scan asks for
            try await Self.insert(fixture, Store.maximumOpenPulls, isOpen: true)

            // when
            try await fixture.tell(try StoreFixture.claim(), id: "1")
            try await fixture.scanPull(try commit(7), heads: [.main: try commit(1)])

            // then
            let delivery = try await fixture.delivery("1")
            #expect(delivery.outcome == .ignored)
            #expect(
                delivery.reason
                    == "pull request; more than 2000 pull requests are open, and those with the highest numbers are scanned"
            )
            #expect(try await fixture.ofPull().isEmpty)
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: silences, branch health and lists of branches do not include theirs; rows are bounded, and with more than 2,000 none is called closed"
        ))
    func testThatOfTooManyOpenOnesThoseWithTheLowestNumbersAreClosed() async throws {
        try await withStore { fixture in
            // given
            try await Self.insert(fixture, Store.maximumKnownPulls + 60, isOpen: true)

            // when: twice, since one scan closes a few
            for _ in 1...2 { try await fixture.scanPull(nil, heads: [.main: try commit(1)]) }

            // then
            #expect(try await fixture.count("pull_requests WHERE is_open = 1") == Store.maximumKnownPulls)
            #expect(try await fixture.count("pull_requests WHERE is_open = 0 AND number <= 160") == 60)
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: silences, branch health and lists of branches do not include theirs; rows are bounded, and with more than 2,000 none is called closed"
        ))
    func testThatClosedOnesAreForgottenWithWhatWasApprovedOfThem() async throws {
        try await withStore { fixture in
            // given: one that was closed long ago and approved, and too many that were closed later
            let (main, head) = try await Self.opened(fixture)
            try await fixture.tell(try StoreFixture.claim(isOpen: false, at: 101), id: "2", at: 60)
            try await fixture.change(
                """
                INSERT INTO pull_approvals SELECT id, 12, 'refs/heads/main', '\(head)', 'ada', 1 FROM bots;
                INSERT INTO pull_approvals SELECT id, 1000, 'refs/heads/main', '\(head)', 'ada', 1 FROM bots;
                """)
            try await Self.insert(fixture, Store.maximumClosedPulls + 10, isOpen: false)

            // when
            try await fixture.scanPull(nil, heads: [.main: main], at: 100)

            // then: the ones that were closed first
            #expect(try await fixture.count("pull_requests") == Store.maximumClosedPulls)
            #expect(try await fixture.count("pull_requests WHERE number < 111") == 0)
            #expect(try await fixture.count("pull_approvals") == 1)
            // After 90 days all are removed
            for _ in 0..<Store.maximumClosedPulls / 50 {
                try await fixture.scanPull(nil, heads: [.main: main], at: 90 * 86_400 + 99_999)
            }
            #expect(try await fixture.count("pull_requests") == 0)
            #expect(try await fixture.damage() == [])

            // One that comes back is looked at as before, and was integrated
            try await fixture.change("UPDATE integrations SET state = 'completed', verdict = 'succeeded'")
            try await fixture.tell(try StoreFixture.claim(at: 300, .reopened), id: "3")
            try await fixture.scanPull(head, heads: [.main: main], at: 400)
            #expect(try await fixture.delivery("3").outcome == .duplicate)
            #expect(try await fixture.openPull()?.generation == 2)
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: silences, branch health and lists of branches do not include theirs; rows are bounded, and with more than 2,000 none is called closed"
        ))
    func testThatApprovalsOfOneAreBounded() async throws {
        try await withStore { fixture in
            // given
            let (_, head) = try await Self.opened(fixture)
            try await fixture.change(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
                INSERT INTO pull_approvals SELECT bots.id, 12, 'refs/heads/main', 'h' || i, 'ada', i FROM bots, n
                """)

            // when
            _ = try await fixture.store.approve(
                12, of: try name("kit"), head: head, by: "ada", supersede: .never, at: time(200),
                answer: { _, _ in .integrates },
                recording: { record in
                    NewEvent(
                        repository: record.repository, bot: record.id.bot, source: .person, hook: "person",
                        event: "approve", receivedAt: time(200), outcome: .integrated)
                })

            // then: the newest
            #expect(try await fixture.count("pull_approvals") == Store.maximumApprovals)
            #expect(try await fixture.count("pull_approvals WHERE head = '\(head)'") == 1)
            #expect(try await fixture.count("pull_approvals WHERE head = 'h201'") == 0)
            #expect(try await fixture.count("pull_approvals WHERE head = 'h202'") == 1)
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: silences, branch health and lists of branches do not include theirs; rows are bounded, and with more than 2,000 none is called closed"
        ))
    func testThatClosedOnesAreNotReadToFindTheOpenOnes() async throws {
        try await withStore { fixture in
            let plans = try await fixture.store.read("explain") { db in
                try [(Store.openPullsQuery, StoreFixture.repository), (Store.latestOfPullsQuery, "kit")].map {
                    try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + $0.0, arguments: [$0.1])
                        .map { $0["detail"] as String }
                }
            }
            let (open, latest) = (plans[0].joined(separator: "\n"), plans[1].joined(separator: "\n"))
            expectContains(open, "SEARCH pull_requests USING INDEX pull_requests_open (repository=?)")
            #expect(!open.contains("TEMP B-TREE"), "\(open)")
            expectContains(latest, "SEARCH pull_requests USING INDEX pull_requests_open (repository=?)")
            expectContains(latest, "integrations_by_pull_request (bot=? AND pull_request=?)")
        }
    }
}
