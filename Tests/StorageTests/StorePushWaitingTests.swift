import Model
import TestSupport
import Testing

@testable import Storage

/// A push that is announced before its repository shows it.
@Suite(
    .proves(
        .intake,
        "Pushes: a head that is announced before the repository shows it is looked for again, unless a later push overtook it"
    ))
struct StorePushWaitingTests {
    private static let tag = RefName(tag: "1.0")

    /// A push that the repository does not show when it is announced, but at the next scan.
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let ref: RefName
        let before: Int?
        let after: Int?
        /// The heads of the first scan and of the next one.
        let shown: [Int?]
        let outcome: EventOutcome
    }

    private static let late = [
        Case(testDescription: "a push", ref: .main, before: 1, after: 2, shown: [1, 2], outcome: .integrated),
        Case(
            testDescription: "a push of several commits, of which some are shown", ref: .main, before: 2, after: 3,
            shown: [2, 3], outcome: .integrated),
        Case(testDescription: "a push by force", ref: .main, before: 1, after: 7, shown: [1, 7], outcome: .integrated),
        Case(
            testDescription: "a new branch", ref: .line, before: nil, after: 5, shown: [nil, 5], outcome: .integrated),
        Case(
            testDescription: "a deleted branch", ref: .main, before: 1, after: nil, shown: [1, nil], outcome: .ignored),
        Case(testDescription: "a new tag", ref: tag, before: nil, after: 5, shown: [nil, 5], outcome: .integrated),
        Case(
            testDescription: "an annotated tag", ref: tag, before: nil, after: 900, shown: [nil, 5],
            outcome: .integrated),
    ]

    private func heads(_ example: Case, _ shown: Int?) throws -> [RefName: CommitID] {
        var heads: [RefName: CommitID] = [.main: try commit(1)]
        heads[example.ref] = try shown.map(commit)
        if heads.isEmpty { heads[RefName(branch: "other")] = try commit(1) }
        return heads
    }

    @Test(arguments: late) func testThatItIsLookedForAgain(example: Case) async throws {
        try await withStore { fixture in
            // given
            let watchers = [try fixture.watcher(tags: ["*"])]
            try await fixture.scan([.main: commit(1)], watchers: watchers)
            let claim = RefClaim(
                ref: example.ref, before: try example.before.map(commit), after: try example.after.map(commit))
            _ = try await fixture.push([claim], id: "1")

            // when
            let first = try await fixture.scan(try heads(example, example.shown[0]), watchers: watchers)

            // then
            #expect(first.awaited.map(\.pause) == [.seconds(2)])
            let waiting = try await fixture.delivery("1")
            #expect(waiting.outcome == .pending)
            expectContains(waiting.reason ?? "", "scan 2 of 6 follows in 2 s")

            // when: as by a restarted daemon
            #expect(try await fixture.store.scanAgain(for: nil))
            let second = try await fixture.scan(try heads(example, example.shown[1]), watchers: watchers)

            // then
            #expect(second.awaited.isEmpty)
            #expect(try await fixture.delivery("1").outcome == example.outcome)
        }
    }

    @Test func testThatItWaitsLongerEachTimeAndNotForEver() async throws {
        try await withStore { fixture in
            // given
            try await fixture.scan([.main: commit(1)])
            _ = try await fixture.push([RefClaim(ref: .main, before: try commit(1), after: try commit(2))], id: "1")

            // when
            var pauses: [Duration] = []
            for _ in 1...9 {
                let outcome = try await fixture.scan([.main: commit(1)])
                guard let awaited = outcome.awaited.first else { break }
                pauses.append(awaited.pause)
                _ = try await fixture.store.scanAgain(for: nil)
            }

            // then
            #expect(pauses == [2, 4, 8, 16, 32].map { .seconds($0) })
            let decided = try await fixture.delivery("1")
            #expect(decided.outcome == .ignored && decided.reason == "the repository does not show this update")
        }
    }

    @Test func testThatWhatWasOvertakenDoesNotWait() async throws {
        try await withStore { fixture in
            // given: two pushes, of which the scan saw only the second
            try await fixture.scan([.main: commit(1)])
            try await fixture.scan([.main: commit(3)])
            // when: the event of the first arrives late
            _ = try await fixture.push([RefClaim(ref: .main, before: try commit(1), after: try commit(2))], id: "1")
            let outcome = try await fixture.scan([.main: commit(3)])
            // then
            #expect(outcome.awaited.isEmpty)
            #expect(try await fixture.delivery("1").outcome == .superseded)
        }
    }

    @Test func testThatOnlyTheNewestOfARefWaits() async throws {
        try await withStore { fixture in
            // given
            try await fixture.scan([.main: commit(1)])
            _ = try await fixture.push([RefClaim(ref: .main, before: try commit(1), after: try commit(2))], id: "1")
            _ = try await fixture.push([RefClaim(ref: .main, before: try commit(2), after: try commit(3))], id: "2")
            // when
            let first = try await fixture.scan([.main: commit(1)])
            _ = try await fixture.store.scanAgain(for: first.awaited.map(\.delivery))
            // and when the repository shows them one after the other
            let second = try await fixture.scan([.main: commit(2)])
            _ = try await fixture.store.scanAgain(for: second.awaited.map(\.delivery))
            let third = try await fixture.scan([.main: commit(3)])
            // then
            #expect(first.awaited.count == 1 && second.awaited.count == 1 && third.awaited.isEmpty)
            #expect(try await fixture.delivery("1").outcome == .superseded)
            #expect(try await fixture.delivery("2").outcome == .integrated)
        }
    }

    @Test func testThatAPushByForceBackToAnEarlierCommitWaits() async throws {
        try await withStore { fixture in
            // given
            try await fixture.scan([.main: commit(1)])
            try await fixture.scan([.main: commit(2)])
            _ = try await fixture.push([RefClaim(ref: .main, before: try commit(2), after: try commit(1))], id: "1")
            // when
            let first = try await fixture.scan([.main: commit(2)])
            _ = try await fixture.store.scanAgain(for: nil)
            try await fixture.scan([.main: commit(1)])
            // then
            #expect(first.awaited.count == 1)
            #expect(try await fixture.delivery("1").outcome == .integrated)
        }
    }

    @Test func testThatWhatIsThereByThenKeepsItsOutcome() async throws {
        try await withStore { fixture in
            // given: a push of two branches, of which one is listed
            try await fixture.scan([.main: commit(1)])
            _ = try await fixture.push(
                [
                    RefClaim(ref: .main, before: try commit(1), after: try commit(2)),
                    RefClaim(ref: RefName(branch: "x"), before: nil, after: try commit(5)),
                ], id: "1")
            // when
            let first = try await fixture.scan([.main: commit(2)])
            _ = try await fixture.store.scanAgain(for: nil)
            try await fixture.scan([.main: commit(2), RefName(branch: "x"): commit(5)])
            // then
            #expect(first.awaited.count == 1 && first.integrations.count == 1)
            #expect(try await fixture.delivery("1").outcome == .integrated)
        }
    }
}
