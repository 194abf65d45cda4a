import Basics
import BotSupport
import Execution
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations

@Suite struct PollerTests {
    private static let start = Timestamp(millisecondsSinceEpoch: 1_772_366_400_000)

    /// Runs the poller while `body` advances the time.
    private func withPoller(
        bots: [String: String], _ body: (Core, _ pass: (Duration) async -> Void) async throws -> Void
    ) async throws {
        try await withCore(bots: bots) { core in
            let poller = Poller(
                store: core.store, registry: core.registry, state: StateDirectory(path: core.directory.path("state")),
                clock: core.time.clock, timer: core.timer, scans: Signal(), logger: core.log.logger, jitter: { 0.5 })
            try await whileRunning({ await poller.run() }) {
                await core.timer.awaitSleepers()
                try await body(core) { duration in
                    core.time.advance(by: duration)
                    core.timer.advance(by: Poller.tick)
                    await core.timer.awaitSleepers()
                }
            }
        }
    }

    /// Expects whether a scan is requested; if so, it is made.
    private func expect(
        asked: Bool, _ core: Core, _ bot: String = "kit", sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let request = try await core.store.repositoriesToScan().first { $0.repository == core.repository(bot) }
        #expect((request != nil) == asked, sourceLocation: sourceLocation)
        guard let request else { return }
        _ = try await core.store.apply(
            RefScan(
                request: request, heads: [:], defaultBranch: nil, at: core.time.now, cause: .poll, watchers: []))
    }

    @Test(
        .proves(.intake, "Poll, less often once an authentic webhook has arrived"),
        .proves(
            .intake,
            "`/deliveries` shows each event with its ref updates and outcomes; every watched tip has its integration or its reason within 60 s of a start"
        ),
        arguments: [
            ("", 60), ("poll: 30s\n", 30), ("poll: 10m\n", 600),
        ])
    func testThatItAsksAtTheStartAndAfterEachInterval(lines: String, seconds: Int) async throws {
        try await withPoller(bots: ["kit": lines]) { core, pass in
            // given
            try await expect(asked: true, core)

            // when, then
            for _ in 0..<2 {
                await pass(.seconds(seconds - 1))
                try await expect(asked: false, core)
                await pass(.seconds(1))
                try await expect(asked: true, core)
            }
        }
    }

    @Test(
        .proves(
            .intake,
            "At most so many looks at once, of a server and in all; slow and silent servers delay nobody else; what an event asks for goes first"
        ))
    func testThatItAsksForNothingThatIsAskedForAlready() async throws {
        try await withPoller(bots: ["kit": "poll: 30s\n"]) { core, pass in
            // given
            let sequence = try await core.sequence()
            // when
            for _ in 0..<5 { await pass(.seconds(30)) }
            // then: a failed scan waits for its pause
            #expect(try await core.sequence() == sequence)
        }
    }

    @Test(.proves(.intake, "Poll, less often once an authentic webhook has arrived"))
    func testThatItAsksLessOftenOnceAnAuthenticWebhookCame() async throws {
        try await withPoller(bots: ["kit": Core.kit]) { core, pass in
            // given
            _ = try await core.store.record(
                NewEvent(
                    repository: core.repository(), bot: try Samples.name("kit"), source: .webhook, hook: "push/kit",
                    deliveryID: "1", event: "push", receivedAt: core.time.now))
            try await expect(asked: true, core)

            // when, then
            await pass(.seconds(590))
            try await expect(asked: false, core)
            await pass(.seconds(11))
            try await expect(asked: true, core)
        }
    }

    @Test func testThatPollOffAsksOnlyAtTheStart() async throws {
        try await withPoller(bots: ["kit": "poll: off\n"]) { core, pass in
            // given
            try await expect(asked: true, core)

            // when
            await pass(.seconds(100_000))

            // then
            try await expect(asked: false, core)
        }
    }

    @Test(.proves(.settings, "A new or changed bot file is in use within 2 s"))
    func testThatABotFileThatIsNewIsTakenUpWithinTwoSeconds() async throws {
        try await withPoller(bots: ["kit": Core.kit]) { core, pass in
            // given
            try core.directory.write("bots/other.yml", "repository: \(core.repository("other"))\n")

            // when
            await pass(Poller.tick)

            // then
            #expect(Poller.tick <= .seconds(1))
            try await expect(asked: true, core, "other")
        }
    }

    @Test(.proves(.intake, "A bot file that is new or changed has its repository scanned, also with `poll: off`"))
    func testThatABotFileThatChangedIsScannedAlsoWithoutPolling() async throws {
        try await withCore(bots: ["kit": "poll: off\n"]) { core in
            // given: looks are requested and answered at the start
            let signal = Signal()
            let poller = Poller(
                store: core.store, registry: core.registry, state: StateDirectory(path: core.directory.path("state")),
                clock: core.time.clock, timer: core.timer, scans: signal, logger: core.log.logger)
            let task = Task { await poller.run() }
            await core.timer.awaitSleepers()
            var iterator = signal.notifications.makeAsyncIterator()
            await iterator.next()

            // when
            try core.directory.write(
                "bots/kit.yml", "repository: \(core.repository())\npoll: off\nbranches: [\"**\"]\n")
            core.timer.advance(by: Poller.tick)
            await core.timer.awaitSleepers()
            task.cancel()
            await task.value

            // then: it signals once more, and ends
            signal.finish()
            #expect(await iterator.next() != nil)
            #expect(try await core.sequence() == 2)
        }
    }

    @Test(
        .proves(
            .intake,
            "A schedule integrates the default branch or `branches:`. A moment counts once, whatever the clock does and through restarts (C1)"
        ))
    func testThatAScheduleQueuesTheDefaultBranchOnce() async throws {
        try await withPoller(bots: ["kit": "schedule: daily 12:05\n"]) { core, pass in
            // given
            let request = try #require(try await core.store.repositoriesToScan().first)
            let main = RefName(branch: "main")
            _ = try await core.store.apply(
                RefScan(
                    request: request, heads: [main: try Samples.commit(1)], defaultBranch: main, at: core.time.now,
                    cause: .poll, watchers: []))

            // when, then
            await pass(.seconds(4 * 60))
            #expect(try await core.store.queued().isEmpty)
            await pass(.seconds(90))
            #expect(try await core.store.queued().map(\.cause) == [.schedule])
            await pass(.seconds(60))
            #expect(try await core.store.queued().count == 1)
        }
    }

    @Test func testThatABotThatCannotBeQueuedDoesNotQueueAnotherTwice() async throws {
        let schedule = "schedule: daily 12:05\n"
        try await withPoller(bots: ["kit": schedule, "other": schedule, "tail": schedule]) { core, pass in
            // given: the row of the one in the middle is retired without the poller's knowledge
            core.log.expectErrors(containing: "scheduled integrations could not be queued")
            let main = RefName(branch: "main")
            for request in try await core.store.repositoriesToScan() {
                _ = try await core.store.apply(
                    RefScan(
                        request: request, heads: [main: try Samples.commit(1)], defaultBranch: main, at: core.time.now,
                        cause: .poll, watchers: []))
            }
            let bots = await core.registry.all()
            try await core.store.register(bots.filter { $0.name.description != "other" }, at: core.time.now)

            // when
            await pass(.seconds(5 * 60))
            await pass(Poller.tick)
            await pass(Poller.tick)

            // then
            #expect(try await core.store.queued().map(\.id.bot.description).sorted() == ["kit", "tail"])

            // when: it can be queued again
            try await core.store.register(bots, at: core.time.now)
            await pass(Poller.tick)
            await pass(Poller.tick)

            // then
            #expect(try await core.store.queued().map(\.id.bot.description).sorted() == ["kit", "other", "tail"])
        }
    }

    @Test func testThatAFailureIsLoggedAndTheNextRoundGoesOn() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let core = try await Core(directory, bots: ["kit": ""], log: RecordingLogger())
            core.log.expectErrors(containing: "Martlet tries again each second")
            try core.store.close()
            let poller = Poller(
                store: core.store, registry: core.registry, state: StateDirectory(path: core.directory.path("state")),
                clock: core.time.clock, timer: core.timer, scans: Signal(),
                logger: core.log.logger)

            // when
            let task = Task { await poller.run() }
            await core.timer.awaitSleepers()
            core.timer.advance(by: Poller.tick)
            await core.timer.awaitSleepers()
            task.cancel()
            await task.value

            // then
            #expect(core.log.lines.count >= 1)
        }
    }

    @Test(.proves(.web, "What a bot had queued is canceled when its file has been gone for a minute"))
    func testThatWhatWaitsIsCanceledOnceTheFileIsGoneForAMinute() async throws {
        try await withPoller(bots: ["kit": "", "app": ""]) { core, pass in
            // given
            let (kit, app) = (try Samples.name("kit"), try Samples.name("app"))
            for bot in [kit, app] {
                _ = try await core.store.queue(
                    NewIntegration(bot: bot, ref: RefName(branch: "main"), commit: Samples.commit(1), cause: .push),
                    at: core.time.now)
            }
            try core.directory.directory().remove("bots/kit.yml")
            await pass(.seconds(1))
            // when
            await pass(.seconds(59))
            #expect(try await core.store.queued().map(\.id.bot) == [kit, app])
            await pass(.seconds(1))
            // then
            #expect(try await core.store.queued().map(\.id.bot) == [app])
            let record = try #require(try await core.store.integration(IntegrationID(bot: kit, number: 1)))
            #expect(record.state.verdict == .canceled)
            #expect(record.reason == "the file of the bot kit is gone; queue it again when it is back")
        }
    }
}
