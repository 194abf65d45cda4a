import Basics
import BotSupport
import Foundation
import Model
import SourceControl
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs

@Suite struct RepositoryScansTests {
    /// Runs the scans with `kit` and `other`, whose repositories do not exist yet.
    private func withScans(
        mayFetch: Bool = true, _ body: (Core, Signal) async throws -> Void
    ) async throws {
        try await withCore(bots: ["kit": Core.kit, "other": ""]) { core in
            let signal = Signal()
            let looks = RepositoryScans(
                store: core.store, registry: core.registry, remotes: core.remotes, clock: core.time.clock,
                timer: core.timer, signal: signal, logger: core.log.logger, mayFetch: { mayFetch })
            try await whileRunning({ await looks.run() }) { try await body(core, signal) }
        }
    }

    private func failures(_ core: Core, _ bot: String = "kit") async throws -> Int {
        try await core.store.repository(core.repository(bot))?.failures ?? -1
    }

    private func makeRepository(_ core: Core, _ bot: String = "kit") async throws -> CommitID {
        let work = try await GitRepository.make(at: core.directory.path("\(bot)-work"))
        let commit = try await work.commit(files: ["a": "b"])
        _ = try await work.bareClone(at: core.repository(bot))
        return commit
    }

    @Test(.proves(.intake, "Poll, less often once an authentic webhook has arrived"))
    func testThatAScanQueuesWhatItFound() async throws {
        try await withScans { core, signal in
            // given
            let commit = try await makeRepository(core)

            // when
            signal.notify()
            try await core.wait("an integration") { try await !core.store.queued().isEmpty }

            // then
            let queued = try await core.store.queued()
            #expect(queued.map(\.commit) == [commit])
            #expect(queued.map(\.ref.shortName) == ["main"])
            #expect(try await core.sequence() == nil)
        }
    }

    @Test(arguments: [true, false]) func testThatWhatMovedIsSaidToBePushedOrPolled(isAnnounced: Bool) async throws {
        try await withScans { core, signal in
            // given
            let first = try await makeRepository(core)
            signal.notify()
            try await core.wait("the baseline") { try await core.store.queued().map(\.commit) == [first] }
            let work = core.directory.path("kit-work")
            try await runExpectingSuccess(
                ["git", "commit", "-q", "--allow-empty", "-m", "Again"], in: work,
                environment: GitRepository.environment())
            try await runExpectingSuccess(
                ["git", "push", "-q", core.repository(), "main"], in: work, environment: GitRepository.environment())

            // when: a push that names no ref, or the time for a poll
            if isAnnounced {
                _ = try await core.store.record(
                    NewEvent(
                        repository: core.repository(), bot: try Samples.name("kit"), source: .webhook, hook: "push/kit",
                        deliveryID: "1", event: "push", receivedAt: core.time.now))
            } else {
                try await core.store.requestScan(at: core.repository())
            }
            signal.notify()

            // then: it supersedes the first, which still waits
            try await core.wait("the second integration") { try await core.store.queued().map(\.commit) != [first] }
            #expect(try await core.store.queued().map(\.cause) == [isAnnounced ? .push : .poll])
        }
    }

    /// Commits of a branch that no bot watches are not fetched, and none are if the disk is full.
    @Test(
        .proves(
            .sourceControl,
            "A look fetches the new commits that integrations need, in one pack. If it cannot, it lists nevertheless; large, slow and first fetches are left to the fetch"
        ), arguments: [true, false])
    func testThatACommitIsInTheMirrorWhenItIsQueued(hasRoom: Bool) async throws {
        try await withScans(mayFetch: hasRoom) { core, signal in
            // given: a mirror that an integration has fetched
            let first = try await makeRepository(core)
            signal.notify()
            try await core.wait("the baseline") { try await core.store.queued().map(\.commit) == [first] }
            let bot = try #require(await core.registry.bot(try Samples.name("kit")))
            let mirror = try await core.remotes.mirror(for: bot)
            try await mirror.fetch([RefName(branch: "main"): first])
            let work = core.directory.path("kit-work")
            let script = """
                git commit -q --allow-empty -m Again; git push -q "$0" main
                git checkout -q -b topic; git commit -q --allow-empty -m Unwatched; git push -q "$0" topic; git rev-parse main topic
                """
            let commits = try await runExpectingSuccess(
                ["sh", "-ec", script, core.repository()], in: work, environment: GitRepository.environment()
            ).split(separator: "\n").compactMap { CommitID($0) }
            try #require(commits.count == 2)

            // when
            try await core.store.requestScan(at: core.repository())
            signal.notify()
            try await core.wait("the second integration") {
                try await core.store.queued().map(\.commit).contains(commits[0])
            }

            // then
            #expect(try await mirror.contains(commits[0]) == hasRoom)
            #expect(try await !mirror.contains(commits[1]))
        }
    }

    /// Each scan that fetches something adds a pack.
    @Test(.proves(.sourceControl, "Mirrors with many packs are repacked, nothing dropped"))
    func testThatAMirrorWithManyPacksIsRepackedBesideTheScans() async throws {
        try await withScans { core, signal in
            // given: files that git does not take for packs, but counts
            let first = try await makeRepository(core)
            signal.notify()
            try await core.wait("the baseline") { try await core.store.queued().map(\.commit) == [first] }
            let bot = try #require(await core.registry.bot(try Samples.name("kit")))
            let mirror = try await core.remotes.mirror(for: bot)
            try await mirror.fetch([RefName(branch: "main"): first])
            for number in 1...50 { try AtomicFile.write([], to: "\(mirror.objects)/pack/pack-\(number).pack") }
            try await runExpectingSuccess(
                ["sh", "-ec", "git commit -q --allow-empty -m Again; git push -q \"$0\" main", core.repository()],
                in: core.directory.path("kit-work"), environment: GitRepository.environment())

            // when
            try await core.store.requestScan(at: core.repository())
            signal.notify()
            try await core.wait("the second integration") { try await core.store.queued().map(\.commit) != [first] }

            // then
            try await until("its loose objects are in a pack") {
                try Directory(opening: mirror.objects).entries().map(\.name).sorted() == ["info", "pack"]
            }
            await until("it is noted") { !mirror.hasManyPacks }
        }
    }

    @Suite(
        .proves(
            .sourceControl,
            "If HEAD names no branch, the only branch is integrated; of several, the bot says what to do"))
    struct GivenAHeadThatNamesNoBranch {
        private let outer = RepositoryScansTests()

        /// Makes a bare repository whose HEAD names a missing branch, or a commit.
        private func make(_ core: Core, branches: [String], isDetached: Bool) async throws -> CommitID {
            let work = try await GitRepository.make(at: core.directory.path("kit-work"))
            let commit = try await work.commit(files: ["a": "b"])
            for branch in branches where branch != "main" { try await work.branch(branch) }
            let bare = try await work.bareClone(at: core.repository())
            if isDetached {
                try await bare.git("update-ref", "--no-deref", "HEAD", commit.description)
            } else {
                try await bare.git("symbolic-ref", "HEAD", "refs/heads/master")
            }
            return commit
        }

        @Test(arguments: [true, false]) func testThatTheOnlyBranchIsIntegrated(isDetached: Bool) async throws {
            try await outer.withScans { core, signal in
                // given
                let commit = try await make(core, branches: ["main"], isDetached: isDetached)
                // when
                signal.notify()
                try await core.wait("an integration") { try await core.store.queued().map(\.commit) == [commit] }
                // then
                #expect(try await core.store.repository(core.repository())?.lastError == nil)
            }
        }

        @Test(arguments: [true, false]) func testThatOfSeveralBranchesItIsSaidWhatToDo(isDetached: Bool) async throws {
            try await outer.withScans { core, signal in
                // given
                _ = try await make(core, branches: ["main", "topic"], isDetached: isDetached)
                // when
                signal.notify()
                try await core.wait("the scan") { try await core.sequence() == nil }
                // then
                let record = try #require(try await core.store.repository(core.repository()))
                expectContains(
                    record.lastError ?? "",
                    "the repository has no default branch: its HEAD names none of its 2 branches")
                expectContains(record.lastError ?? "", "`branches: [main]`")
                #expect(record.failures == 0)
                #expect(try await core.store.queued().isEmpty)
            }
        }
    }

    @Suite(
        .proves(
            .badInput,
            "A repository without a push is not a failure: page, commands and API say that it is empty; one that had branches and lists none is a failure"
        ))
    struct GivenAnEmptyRepository {
        private let outer = RepositoryScansTests()

        @Test func testThatItIsNoFailureAndItsFirstPushIsIntegrated() async throws {
            try await outer.withScans { core, signal in
                // given
                let remote = try await GitRepository.make(at: core.repository(), isBare: true)

                // when
                signal.notify()
                try await core.wait("the scan") { try await core.sequence() == nil }

                // then
                let empty = try #require(try await core.store.repository(core.repository()))
                #expect(empty.isEmpty && empty.lastError == nil && empty.failures == 0)

                // and when somebody pushes
                let work = try await GitRepository.make(at: core.directory.path("kit-work"))
                let commit = try await work.commit(files: ["a": "b"])
                try await work.push(to: remote)
                try await core.store.requestScan(at: core.repository())
                signal.notify()
                try await core.wait("an integration") { try await core.store.queued().map(\.commit) == [commit] }
                #expect(try await core.store.queued().map(\.cause) == [.baseline])
                #expect(try await core.store.repository(core.repository())?.isEmpty == false)
            }
        }

        @Test func testThatOneThatHadBranchesTakesNothingBack() async throws {
            try await outer.withScans { core, signal in
                // given
                let commit = try await outer.makeRepository(core)
                signal.notify()
                try await core.wait("an integration") { try await core.store.queued().map(\.commit) == [commit] }
                try FileManager.default.removeItem(atPath: core.repository() + "/packed-refs")

                // when
                try await core.store.requestScan(at: core.repository())
                signal.notify()
                try await core.wait("the failure") { try await outer.failures(core) == 1 }

                // then
                let record = try #require(try await core.store.repository(core.repository()))
                expectContains(record.lastError ?? "", "it had 1 branches and tags, which are kept as they were")
                #expect(record.hasHeads && !record.isEmpty)
            }
        }
    }

    @Test(.proves(.intake, "Polls scattered by a tenth, failed scans tried again after pauses that grow"))
    func testThatAFailedScanIsStoredAndTriedAgainAfterAPauseThatGrows() async throws {
        try await withScans { core, signal in
            // given
            signal.notify()
            try await core.wait("both failures") {
                let (kit, other) = (try await failures(core), try await failures(core, "other"))
                return kit == 1 && other == 1
            }
            await core.timer.awaitSleepers(2)
            let error = try await core.store.repository(core.repository())?.lastError
            expectContains(error ?? "", core.repository())

            // when: less than half of the first pause
            core.timer.advance(by: RepositoryScans.firstPause / 2 - .milliseconds(1))
            #expect(core.timer.sleeperCount == 2)

            // then
            core.timer.advance(by: RepositoryScans.firstPause / 2 + .milliseconds(1))
            try await core.wait("the second failure") { try await failures(core) == 2 }
            await core.timer.awaitSleepers(2)
            core.timer.advance(by: RepositoryScans.firstPause - .milliseconds(1))
            #expect(try await failures(core) == 2, "the second pause is at least as long as the first may be")
            core.timer.advance(by: RepositoryScans.firstPause + .milliseconds(1))
            try await core.wait("the third failure") { try await failures(core) == 3 }
        }
    }

    @Test func testThatRequestsThatCouldNotBeReadAreReadAgainAfterAPause() async throws {
        try await withScans { core, signal in
            // given
            _ = try await makeRepository(core)
            core.log.expectErrors(containing: "the list of repositories to scan could not be read")
            try await core.sql("ALTER TABLE repositories RENAME COLUMN requested TO asked")
            signal.notify()
            await core.timer.awaitSleepers()
            // when
            try await core.sql("ALTER TABLE repositories RENAME COLUMN asked TO requested")
            core.timer.advance(by: RepositoryScans.firstPause)
            // then: there was no other signal
            try await core.wait("an integration") { try await !core.store.queued().isEmpty }
        }
    }

    @Test func testThatANewEventDoesNotWaitForThePause() async throws {
        try await withScans { core, signal in
            // given
            signal.notify()
            try await core.wait("the failure") { try await failures(core) == 1 }
            _ = try await makeRepository(core)

            // when
            try await core.store.requestScan(at: core.repository())
            signal.notify()

            // then
            try await core.wait("the scan") { try await failures(core) == 0 }
            #expect(try await core.store.queued().count == 1)
        }
    }

    @Test func testThatOneRepositorysPauseHoldsUpNoOther() async throws {
        try await withScans { core, signal in
            // given
            _ = try await makeRepository(core, "other")

            // when
            signal.notify()

            // then
            try await core.wait("the other's look") {
                try await core.store.queued().map(\.id.bot.description) == ["other"]
            }
            try await core.wait("the failure") { try await failures(core) == 1 }
        }
    }

    @Test func testThatTheSameHeadsAgainQueueNothing() async throws {
        try await withScans { core, signal in
            // given
            _ = try await makeRepository(core)
            signal.notify()
            try await core.wait("an integration") { try await !core.store.queued().isEmpty }

            // when
            for _ in 1...3 {
                try await core.store.requestScan(at: core.repository())
                signal.notify()
                try await core.wait("the scan") { try await core.sequence() == nil }
            }

            // then
            #expect(try await core.store.queued().count == 1)
        }
    }

    @Test func testThatABotThatIsGoneEndsItsRequest() async throws {
        try await withCore { core in
            // given
            let registry = core.registry
            try core.directory.directory().remove("bots/kit.yml")
            await registry.reload()
            let signal = Signal()
            let looks = RepositoryScans(
                store: core.store, registry: registry, remotes: core.remotes, clock: core.time.clock,
                timer: core.timer, signal: signal, logger: core.log.logger)
            try await whileRunning({ await looks.run() }) {
                // when
                signal.notify()

                // then
                try await core.wait("the end of the request") { try await core.sequence() == nil }
            }
        }
    }
}
