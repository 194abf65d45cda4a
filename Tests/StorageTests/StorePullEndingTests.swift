import Model
import TestSupport
import Testing

@testable import Storage

/// A pull request's result does not count while its integration is being ended. If the pull request is closed and opened again, or retargeted and
/// back, it is integrated again.
@Suite struct StorePullEndingTests {
    /// Announces the pull request, finds it by a scan, and begins its integration.
    private func begin(
        _ fixture: StoreFixture, _ head: CommitID, heads: [RefName: CommitID]
    ) async throws -> IntegrationRecord {
        try await fixture.tell(try StoreFixture.claim(), id: "1")
        try await fixture.scanPull(head, heads: heads)
        let first = try #require(try await fixture.ofPull().first)
        return try await fixture.store.apply(.started, to: first.id, at: time(101))
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: a newer head supersedes, closing ends what waits and runs, opening again integrates what was not"
        ))
    func testThatOneThatIsOpenedAgainWhileItsRunIsBeingEndedIsIntegrated() async throws {
        try await withStore { fixture in
            // given: it runs, is closed, and takes time to end
            let (main, head) = (try commit(1), try commit(7))
            let first = try await begin(fixture, head, heads: [.main: main])
            try await fixture.tell(try StoreFixture.claim(isOpen: false, at: 200), id: "2")
            let closing = try await fixture.scanPull(head, heads: [.main: main])
            #expect(closing.closed.map(\.id) == [first.id])

            // when
            try await fixture.tell(try StoreFixture.claim(at: 201, .reopened), id: "3")
            try await fixture.scanPull(head, heads: [.main: main])

            // then
            #expect(try await fixture.ofPull().count == 2)
            #expect(try await fixture.delivery("3").outcome == .integrated)
            // It is integrated only once
            try await fixture.tell(try StoreFixture.claim(at: 202, .reopened), id: "4")
            try await fixture.scanPull(head, heads: [.main: main])
            #expect(try await fixture.ofPull().count == 2)
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: a newer head supersedes, closing ends what waits and runs, opening again integrates what was not"
        ))
    func testThatOneThatComesBackToItsBaseWhileItsRunIsBeingEndedIsIntegrated() async throws {
        try await withStore { fixture in
            // given: it runs for main, and ends because of the release branch
            let (heads, head) = ([RefName.main: try commit(1), .line: try commit(2)], try commit(7))
            _ = try await begin(fixture, head, heads: heads)
            try await fixture.tell(try StoreFixture.claim(base: .line, at: 200), id: "2")
            try await fixture.scanPull(head, heads: heads)

            // when
            try await fixture.tell(try StoreFixture.claim(at: 300), id: "3")
            try await fixture.scanPull(head, heads: heads)

            // then
            #expect(try await fixture.ofPull().map { $0.pull?.base } == [.main, .line, .main])
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: a newer head supersedes, closing ends what waits and runs, opening again integrates what was not"
        ))
    func testThatWhatAPersonEndsDoesNotCountEither() async throws {
        try await withStore { fixture in
            // given
            let (main, head) = (try commit(1), try commit(7))
            let first = try await begin(fixture, head, heads: [.main: main])
            try await fixture.store.markEnding(first.id, run: 1)

            // when
            try await fixture.tell(try StoreFixture.claim(isOpen: false, at: 200), id: "2")
            try await fixture.tell(try StoreFixture.claim(at: 201, .reopened), id: "3")
            try await fixture.scanPull(head, heads: [.main: main])

            // then
            #expect(try await fixture.ofPull().count == 2)
        }
    }

    @Test func testThatWhatCameToItsEndAllTheSameCounts() async throws {
        try await withStore { fixture in
            // given: its end was requested, and it was green before
            let (main, head) = (try commit(1), try commit(7))
            let first = try await begin(fixture, head, heads: [.main: main])
            try await fixture.tell(try StoreFixture.claim(isOpen: false, at: 200), id: "2")
            try await fixture.scanPull(head, heads: [.main: main])
            try await fixture.store.apply(
                .completed(.succeeded, triggerFailed: false), to: first.id, at: time(201))

            // when
            try await fixture.tell(try StoreFixture.claim(at: 202, .reopened), id: "3")
            try await fixture.scanPull(head, heads: [.main: main])

            // then
            #expect(try await fixture.ofPull().count == 1)
        }
    }
}
