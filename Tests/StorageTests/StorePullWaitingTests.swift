import Model
import TestSupport
import Testing

@testable import Storage

/// A head that the forge announces before its repository lists it.
@Suite(
    .proves(
        .intake,
        "Pull requests: a head that the forge tells of before it lists it is looked for again, five times in a minute, and the delivery says so"
    ))
struct StorePullWaitingTests {
    @Test func testThatAnotherScanIsAskedForAfterAPause() async throws {
        try await withStore { fixture in
            // given
            let (main, old, new) = (try commit(1), try commit(7), try commit(8))
            try await fixture.tell(try StoreFixture.claim(), id: "1")
            try await fixture.scanPull(old, heads: [.main: main])

            // when: the ref lags behind
            try await fixture.tell(try StoreFixture.claim(at: 200, head: 8), id: "2")
            let outcome = try await fixture.scanPull(old, heads: [.main: main])

            // then
            #expect(outcome.awaited.map(\.pause) == [.seconds(2)])
            let waiting = try await fixture.delivery("2")
            #expect(waiting.outcome == .pending)
            #expect(
                waiting.reason
                    == "pull request; the repository shows \(old.abbreviated) at refs/pull/12/head, not "
                    + "\(new.abbreviated) yet: scan 2 of 6 follows in 2 s")
            #expect(try await fixture.store.repositoriesToScan().isEmpty)
            // A look for another reason does not count, even if it finds the head
            try await fixture.scanPull(new, heads: [.main: main])
            #expect(try await fixture.delivery("2").outcome == .pending)

            // when
            #expect(try await fixture.store.scanAgain(for: outcome.awaited.map(\.delivery)))
            #expect(try await fixture.store.repositoriesToScan().count == 1)
            try await fixture.scanPull(new, heads: [.main: main])

            // then
            let decided = try await fixture.delivery("2")
            #expect(decided.outcome == .duplicate && decided.reason == "pull request; this was known already")
            #expect(try await fixture.ofPull().map(\.headCommit) == [old, new])
        }
    }

    @Test func testThatItWaitsLongerEachTimeAndNotForEver() async throws {
        try await withStore { fixture in
            // given
            let main = try commit(1)
            try await fixture.tell(try StoreFixture.claim(), id: "1")

            // when
            var pauses: [Duration] = []
            for _ in 1...9 {
                let outcome = try await fixture.scanPull(nil, heads: [.main: main])
                guard let awaited = outcome.awaited.first else { break }
                pauses.append(awaited.pause)
                // A restarted daemon does this.
                _ = try await fixture.store.scanAgain(for: nil)
            }

            // then
            #expect(pauses == [2, 4, 8, 16, 32].map { .seconds($0) })
            let decided = try await fixture.delivery("1")
            #expect(decided.outcome == .ignored)
            #expect(decided.reason == "pull request; the repository does not list refs/pull/12/head")
        }
    }

    @Test func testThatWhatIsOvertakenDoesNotWait() async throws {
        try await withStore { fixture in
            // given: pushed twice, and the scan sees the second
            let main = try commit(1)
            try await fixture.tell(try StoreFixture.claim(head: 7), id: "1")
            try await fixture.tell(try StoreFixture.claim(at: 200, head: 8), id: "2")

            // when
            let outcome = try await fixture.scanPull(try commit(8), heads: [.main: main])

            // then
            #expect(outcome.awaited.isEmpty)
            #expect(try await fixture.delivery("1").outcome == .coalesced)
            #expect(try await fixture.delivery("2").outcome == .integrated)
            // An earlier head does not either
            try await fixture.scanPull(try commit(9), heads: [.main: main])
            try await fixture.tell(try StoreFixture.claim(at: 201, head: 8), id: "3")
            #expect(try await fixture.scanPull(try commit(9), heads: [.main: main]).awaited.isEmpty)
            #expect(try await fixture.delivery("3").outcome == .duplicate)
        }
    }
}
