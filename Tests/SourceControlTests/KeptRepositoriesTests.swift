import Basics
import Glibc
import Model
import TestSupport
import Testing

@testable import SourceControl

@Suite struct KeptRepositoriesTests {
    @Test func testThatOneIsHandedOnOnceAndNotWhenItIsOld() async throws {
        try await withOrigin { fixture in
            // given
            try await fixture.fetch()
            let time = Locked(ContinuousClock.now)
            let kept = KeptRepositories { time.value }
            let first = try OpenRepository(fixture.mirror.store)

            // when
            kept.keep(first, of: "/a")

            // then
            #expect(kept.take("/b") == nil)
            #expect(kept.take("/a") === first)
            #expect(kept.take("/a") == nil)

            // and when
            kept.keep(first, of: "/a")
            time.withLock { $0 += KeptRepositories.time }

            // then
            #expect(kept.take("/a") == nil)
        }
    }

    @Test func testThatOnlySoManyAreKeptAndOldOnesMakeRoom() async throws {
        try await withOrigin { fixture in
            // given
            try await fixture.fetch()
            let time = Locked(ContinuousClock.now)
            let kept = KeptRepositories { time.value }
            weak var last: OpenRepository?

            // when
            for number in 1...KeptRepositories.limit + 1 {
                let repository = try OpenRepository(fixture.mirror.store)
                last = repository
                kept.keep(repository, of: "/\(number)")
            }

            // then
            #expect(kept.take("/\(KeptRepositories.limit + 1)") == nil)
            #expect(last == nil)
            #expect(kept.take("/\(KeptRepositories.limit)") != nil)

            // and when
            time.withLock { $0 += KeptRepositories.time }
            for number in 1...KeptRepositories.limit {
                kept.keep(try OpenRepository(fixture.mirror.store), of: "/new\(number)")
            }

            // then
            #expect(kept.take("/new\(KeptRepositories.limit)") != nil)
        }
    }

    @Test func testThatWhatAnIntegrationBeginsWithLeavesItsRepositoryForTheCheckout() async throws {
        try await withOrigin(["file": "1\n"]) { fixture in
            // given
            let mirror = Self.timeless(fixture.mirror)
            let commit = try await fixture.fetch()

            // when
            _ = try await mirror.content(of: commit, file: "file", limit: 10)
            let first = try #require(mirror.kept.take(mirror.path))
            mirror.kept.keep(first, of: mirror.path)
            _ = try await mirror.rootEntries(of: commit)

            // then: the next takes it, and keeps nothing
            #expect(mirror.kept.take(mirror.path) == nil)
        }
    }

    @Test func testThatWhatIsReadAheadLeavesItsRepositoryForWhoAsksNext() async throws {
        try await withOrigin(["file": "1\n"]) { fixture in
            // given
            let mirror = Self.timeless(fixture.mirror)
            let commit = try await fixture.fetch()

            // when
            mirror.readAhead(commit, file: "file", limit: 10)
            let first = try #require(await mirror.lane.run { mirror.kept.take(mirror.path) })
            mirror.kept.keep(first, of: mirror.path)
            let content = try await mirror.content(of: commit, file: "file", limit: 10)

            // then
            #expect(content?.file == Array("1\n".utf8))
            #expect(mirror.kept.take(mirror.path) === first, "it was not opened once more")
        }
    }

    @Test func testThatNoMirrorIsMadeToReadAhead() async throws {
        try await withOrigin { fixture in
            // given
            let mirror = Self.timeless(fixture.mirror)

            // when
            mirror.readAhead(try #require(CommitID(String(repeating: "1", count: 40))), file: nil, limit: 10)

            // then
            let isThere = await mirror.lane.run { access(mirror.path, F_OK) == 0 }
            #expect(!isThere)
        }
    }

    /// One in which no time passes, so that what is kept stays.
    private static func timeless(_ mirror: Mirror) -> Mirror {
        let now = ContinuousClock.now
        return Mirror(
            url: mirror.url, credentials: mirror.credentials, store: mirror.store, lane: mirror.lane,
            limits: mirror.limits, configuration: mirror.configuration, engine: mirror.engine, memory: mirror.memory,
            kept: KeptRepositories { now })
    }
}
