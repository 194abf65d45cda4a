import Basics
import Glibc
import Model
import TestSupport
import Testing

@testable import SourceControl

/// Handles of mirrors that stay open between two calls.
@Suite(.proves(.jobs, "What an integration begins with is read while a user's request is stored"))
struct KeptRepositoriesTests {
    @Test(
        .proves(
            .sourceControl,
            "A mirror stays open between its calls; what another process writes is seen; handles are bounded and closed when unused"
        ))
    func testThatAHandleIsUsedOn() async throws {
        try await withOrigin { fixture in
            // given
            let mirror = Self.timed(fixture.mirror)
            let commit = try await Self.fetch(mirror, fixture)
            let first = try await Self.take(mirror)

            // when: a fetch, a hold and a read
            let later = try await fixture.origin.commit(files: ["b": "2\n"])
            try await mirror.fetch([fixture.main: later])
            try await mirror.hold(commit, for: IntegrationID(bot: try #require(Name("kit")), number: 1))
            let names = try await mirror.rootEntries(of: later)

            // then: they have written packs and refs, and all are seen
            #expect(names == ["README", "b"])
            #expect(try await mirror.resolve("refs/heads/main") == later)
            #expect(try await Self.take(mirror) === first, "it was not opened once more")
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "A mirror stays open between its calls; what another process writes is seen; handles are bounded and closed when unused"
        ))
    func testThatWhatAnotherProcessHasWrittenIsSeen() async throws {
        try await withOrigin { fixture in
            // given
            let mirror = Self.timed(fixture.mirror)
            _ = try await Self.fetch(mirror, fixture)
            let first = try await Self.take(mirror)
            let later = try await fixture.origin.commit(files: ["b": "2\n"])

            // when
            try await runExpectingSuccess(
                ["git", "-C", mirror.path, "fetch", "-q", fixture.origin.path, "main:refs/heads/other"],
                environment: GitRepository.environment())
            try await runExpectingSuccess(["git", "-C", mirror.path, "pack-refs", "--all"])

            // then
            #expect(try await mirror.rootEntries(of: later) == ["README", "b"])
            #expect(try await mirror.resolve("refs/heads/other") == later)
            #expect(try await Self.take(mirror) !== first)
        }
    }

    /// Opening the repository again repairs or creates each of them.
    @Test(arguments: ["config", "HEAD", "packed-refs", "refs", "."])
    func testThatAHandleOfFilesThatAreOthersNowIsNotUsed(_ name: String) async throws {
        try await withOrigin { fixture in
            // given
            let mirror = Self.timed(fixture.mirror)
            _ = try await Self.fetch(mirror, fixture)
            let first = try await Self.take(mirror)

            // when
            try await runExpectingSuccess(["rm", "-rf", name == "." ? mirror.path : "\(mirror.path)/\(name)"])

            // then
            #expect(try await Self.take(mirror) !== first)
            let commit = try await Self.fetch(mirror, fixture)
            #expect(try await mirror.contains(commit))
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "A mirror stays open between its calls; what another process writes is seen; handles are bounded and closed when unused"
        ))
    func testThatWhatWasReadIsBelievedForASecondAtMost() async throws {
        try await withOrigin { fixture in
            // given: a commit that was read, and whose file is damaged since
            let time = Locked(ContinuousClock.now)
            let mirror = Self.timed(fixture.mirror) { time.value }
            let commit = try await Self.fetch(mirror, fixture)
            _ = try await mirror.content(of: commit, file: nil, limit: 0)
            let file = "objects/\(commit.description.prefix(2))/\(commit.description.dropFirst(2))"
            let directory = try Directory(opening: mirror.path)
            try directory.remove(file)
            try directory.write(file, bytes: [UInt8](repeating: 0, count: 150))

            // when
            let atOnce = try await mirror.content(of: commit, file: nil, limit: 0)
            time.withLock { $0 += KeptRepositories.time }
            let later = try await mirror.content(of: commit, file: nil, limit: 0)

            // then
            #expect(atOnce?.details.id == commit)
            #expect(later == nil)
        }
    }

    @Test func testThatNothingIsBelievedByWhoFetches() async throws {
        try await withOrigin { fixture in
            // given
            let mirror = Self.timed(fixture.mirror)
            let commit = try await Self.fetch(mirror, fixture)
            _ = try await mirror.content(of: commit, file: nil, limit: 0)
            let file = "objects/\(commit.description.prefix(2))/\(commit.description.dropFirst(2))"
            try Directory(opening: mirror.path).remove(file)

            // when
            let isHere = try await mirror.contains(commit)
            try await mirror.fetch([fixture.main: commit])

            // then
            #expect(!isHere)
            #expect(try await mirror.contains(commit))
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "A mirror stays open between its calls; what another process writes is seen; handles are bounded and closed when unused"
        ))
    func testThatOnlySoManyAreKeptAndTheOldestMakesRoom() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let time = Locked(ContinuousClock.now)
            let kept = KeptRepositories { time.value }
            func store(_ number: Int) -> MirrorStore {
                MirrorStore(path: directory.path("mirrors/\(number)"), name: "\(number)")
            }
            weak var oldest: OpenRepository?
            weak var second: OpenRepository?

            // when
            for number in 0...KeptRepositories.limit {
                let repository = try kept.acquire(store(number))
                if number == 0 { oldest = repository }
                if number == 1 { second = repository }
                kept.release(repository, of: store(number), isFilled: true)
                time.withLock { $0 += .milliseconds(1) }
            }

            // then
            #expect(kept.count == KeptRepositories.limit)
            #expect(oldest == nil)
            #expect(second != nil)
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "A mirror stays open between its calls; what another process writes is seen; handles are bounded and closed when unused"
        ))
    func testThatOnesThatNobodyUsesAreClosed() async throws {
        try await withOrigin { fixture in
            // given: one handle with open packs, and one without
            let time = Locked(ContinuousClock.now)
            let kept = KeptRepositories { time.value }
            let other = MirrorStore(path: fixture.directory.path("mirrors/other"), name: "other")
            let (used, unused) = (try kept.acquire(fixture.mirror.store), try kept.acquire(other))
            kept.release(used, of: fixture.mirror.store, isFilled: true)
            kept.release(unused, of: other)

            // when, then
            kept.closeUnused()
            #expect(kept.count == 2)
            time.withLock { $0 += KeptRepositories.time }
            kept.closeUnused()
            #expect(kept.count == 1)
            time.withLock { $0 += KeptRepositories.unused }
            kept.closeUnused()
            #expect(kept.count == 0)
        }
    }

    @Test func testThatARepackClosesTheHandle() async throws {
        try await withOrigin { fixture in
            // given
            let mirror = Self.timed(fixture.mirror)
            let commit = try await Self.fetch(mirror, fixture)
            _ = try await mirror.content(of: commit, file: nil, limit: 0)
            #expect(mirror.kept.count == 1)

            // when
            try await mirror.repack()

            // then
            #expect(mirror.kept.count == 0)
        }
    }

    @Test func testThatWhatIsReadAheadLeavesItsRepositoryForWhoAsksNext() async throws {
        try await withOrigin(["file": "1\n"]) { fixture in
            // given
            let mirror = Self.timed(fixture.mirror)
            let commit = try await Self.fetch(mirror, fixture)

            // when
            mirror.readAhead(commit, file: "file", limit: 10)
            let first = try await Self.take(mirror)
            let content = try await mirror.content(of: commit, file: "file", limit: 10)

            // then
            #expect(content?.file == Array("1\n".utf8))
            #expect(try await Self.take(mirror) === first, "it was not opened once more")
        }
    }

    @Test func testThatNoMirrorIsMadeToReadAhead() async throws {
        try await withOrigin { fixture in
            // given
            let mirror = Self.timed(fixture.mirror)

            // when
            mirror.readAhead(try #require(CommitID(String(repeating: "1", count: 40))), file: nil, limit: 10)

            // then
            let isThere = await mirror.queue.run { access(mirror.path, F_OK) == 0 }
            #expect(!isThere)
        }
    }

    /// Returns a mirror whose handles use this time, which stands still.
    private static func timed(
        _ mirror: Mirror, _ now: (@Sendable () -> ContinuousClock.Instant)? = nil
    ) -> Mirror {
        let start = ContinuousClock.now
        return Mirror(
            url: mirror.url, credentials: mirror.credentials, store: mirror.store, queue: mirror.queue,
            limits: mirror.limits, configuration: mirror.configuration, engine: mirror.engine,
            listCache: mirror.listCache,
            kept: KeptRepositories(now: now ?? { start }))
    }

    private static func fetch(_ mirror: Mirror, _ fixture: Fixture) async throws -> CommitID {
        let commit = try #require(try await mirror.scan().heads[fixture.main])
        try await mirror.fetch([fixture.main: commit])
        return commit
    }

    /// Returns the handle that the next call gets.
    private static func take(_ mirror: Mirror) async throws -> OpenRepository {
        try await mirror.queue.run { () throws(SourceControlError) in
            let repository = try mirror.kept.acquire(mirror.store)
            mirror.kept.release(repository, of: mirror.store, isFilled: true)
            return repository
        }
    }
}
