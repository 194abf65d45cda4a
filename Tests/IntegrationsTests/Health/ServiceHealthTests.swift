import Basics
import BotSupport
import Execution
import Model
import Settings
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs
@testable import Storage

@Suite struct ServiceHealthTests {
    private static let hour = Duration.seconds(3600)

    /// - Parameters:
    ///   - places: The directories whose disks need room.
    ///   - probe: What the examination of the launcher and the sandbox finds.
    private func health(
        _ core: Core, places: [String] = [], probe: @escaping ServiceHealth.Probe = { [] }
    ) -> ServiceHealth {
        let state = StateDirectory(path: core.directory.path)
        let settings = ServiceSettings(
            state: core.directory.path, bots: core.directory.path("bots"), concurrency: 1,
            secrets: core.directory.path("secrets"))
        return ServiceHealth(
            store: core.store, registry: core.registry,
            disk: DiskGuard(state: state, workspaces: Workspaces(root: state.workspaces), logger: core.log.logger),
            places: places, settings: settings, secrets: core.secrets, probe: probe, clock: core.time.clock)
    }

    private func found(_ health: ServiceHealth) async -> [ServiceCondition.Kind] {
        await health.examine(isForced: true)
        return health.troubles.map(\.kind)
    }

    @Test func testThatAServiceThatWorksHasNoTroubles() async throws {
        try await withCore { core in
            // given
            let health = health(core)
            #expect(!health.isExamined)
            // when
            await health.examine()
            // then
            #expect(health.isExamined)
            #expect(health.troubles == [])
        }
    }

    @Test(
        .proves(
            .operating,
            "A disk with less than a tenth or 5 GiB left is a trouble before it is full, with the disk and the room left"
        ),
        .smallDisk)
    func testThatALowDiskIsATroubleBeforeItIsFull() async throws {
        try await withCore { core in
            let disk = try core.directory.makeDirectory("disk")
            try await SmallDisk.mounted(on: disk, size: "8m") {
                // given
                let health = health(core, places: [disk])
                #expect(await found(health) == [])
                // when: a twentieth is left
                try SmallDisk.fill(with: disk + "/full", leaving: 400 << 10)
                // then
                #expect(await found(health) == [.disk])
                let trouble = try #require(health.troubles.first)
                expectContains(trouble.reason, "the disk of \(disk) has 400 KiB left of 8 MiB")
                expectContains(trouble.remedy, "martlet prune")
                #expect(!trouble.stopsWork)
                // when: a fifth is left
                try SmallDisk.fill(with: disk + "/full", leaving: 1600 << 10)
                // then
                #expect(await found(health) == [])
            }
        }
    }

    @Test(.proves(.badInput, "A state directory that vanishes with its disk is a trouble that stops the work"))
    func testThatADirectoryThatVanishesIsATrouble() async throws {
        try await withCore { core in
            // given
            let place = try core.directory.makeDirectory("place")
            let health = health(core, places: [core.directory.path, place])
            #expect(await found(health).filter { $0 != .disk } == [])
            let before = health.troubles
            // when
            try core.directory.directory().remove("place")
            // then
            #expect(await found(health) == [.disk])
            let trouble = try #require(health.troubles.first)
            #expect(trouble.reason == "\(place) cannot be examined: No such file or directory")
            expectContains(trouble.remedy, "mount its disk again")
            #expect(trouble.stopsWork)
            // when
            try core.directory.makeDirectory("place")
            // then
            await health.examine(isForced: true)
            #expect(health.troubles == before)
        }
    }

    @Test(
        .proves(
            .operating,
            "Messages to a destination that fail for an hour, or that were given up, are a trouble until one is sent"))
    func testThatDeliveriesThatFailAreATrouble() async throws {
        try await withCore { core in
            // given
            let health = health(core)
            let failedAt = core.time.now.millisecondsSinceEpoch
            try await core.sql(
                """
                INSERT INTO outbox (id, kind, destination, account, subject, is_first, bot, content, state, next_at, note,
                    created_at, failed_at)
                VALUES (1, 'webhook', 'hooks.example', '', '1', 1, 'kit', '{}', 'waiting', 0, 'it answered 500', 1,
                    \(failedAt))
                """)
            #expect(await found(health) == [])
            // when
            core.time.advance(by: Self.hour)
            // then
            #expect(await found(health) == [.delivery])
            let trouble = try #require(health.troubles.first)
            #expect(trouble.subject == "webhook hooks.example")
            #expect(trouble.reason == "messages to hooks.example (webhook) fail, of kit: it answered 500")
            expectContains(trouble.remedy, "martlet outbox --retry NUMBER")
            #expect(!trouble.stopsWork)
            // when: it is given up
            try await core.sql("UPDATE outbox SET state = 'given-up'")
            #expect(await found(health) == [.delivery])
            expectContains(health.troubles.first?.reason ?? "", "some were given up")
            // when: a later one is sent
            try await core.sql(
                """
                INSERT INTO outbox (id, kind, destination, account, subject, is_first, bot, content, state, next_at,
                    created_at)
                VALUES (2, 'webhook', 'hooks.example', '', '2', 1, 'kit', '{}', 'sent', 0, 2)
                """)
            // then
            #expect(await found(health) == [])
        }
    }

    @Test(
        .proves(.operating, "Scans of a repository that fail for an hour are a trouble, with the reason and what to do")
    )
    func testThatScansThatFailForAnHourAreATrouble() async throws {
        try await withCore { core in
            // given
            let health = health(core)
            let request = try #require(try await core.store.repositoriesToScan().first)
            try await core.store.scanFailed(request, reason: "no route to host", at: core.time.now)
            #expect(await found(health) == [])
            // when
            core.time.advance(by: Self.hour)
            // then
            #expect(await found(health) == [.repository])
            let trouble = try #require(health.troubles.first)
            #expect(trouble.subject == core.repository())
            expectContains(trouble.reason, "no route to host")
            expectContains(trouble.remedy, "martlet doctor")
            #expect(!trouble.stopsWork)
        }
    }

    @Test(
        .proves(.operating, "Where the scans of all repositories fail three times in a row, the service is not ready"))
    func testThatAllScansFailingStopsTheWork() async throws {
        try await withCore { core in
            // given
            let health = health(core)
            let request = try #require(try await core.store.repositoriesToScan().first)
            // when
            for _ in 0..<3 { try await core.store.scanFailed(request, reason: "no route to host", at: core.time.now) }
            // then
            #expect(await found(health) == [.scans])
            #expect(health.troubles.map(\.stopsWork) == [true])
        }
    }

    @Test(
        .proves(.operating, "A queue in which nothing starts or ends for an hour although a slot is free is a trouble"))
    func testThatAQueueThatStandsStillIsATrouble() async throws {
        try await withCore { core in
            // given
            let health = health(core)
            _ = try await core.store.queue(
                NewIntegration(
                    bot: try Samples.name("kit"), ref: RefName(branch: "main"), commit: try Samples.commit(1),
                    cause: .person), at: core.time.now)
            #expect(await found(health) == [])
            // when
            core.time.advance(by: Self.hour)
            // then
            #expect(await found(health) == [.queue])
            // when: one starts
            try await core.store.apply(
                .started, to: IntegrationID(bot: try Samples.name("kit"), number: 1), at: core.time.now)
            // then
            #expect(await found(health) == [])
        }
    }

    @Test(.proves(.operating, "A secret that a bot file or the settings name and that cannot be read is a trouble"))
    func testThatAMissingSecretIsATrouble() async throws {
        try await withCore(bots: ["kit": Core.kit, "lib": "webhook: { secret: lib-webhook }\n"]) { core in
            // when
            let health = health(core)
            // then
            #expect(await found(health) == [.credentials])
            #expect(health.troubles.map(\.subject) == ["lib-webhook"])
            expectContains(health.troubles.map(\.remedy).joined(), "martlet secret set lib-webhook")
        }
    }

    @Test func testThatTheLaunchersTroubleIsKeptUntilTheNextExamination() async throws {
        try await withCore { core in
            // given
            let isLost = Locked(true)
            let health = health(core) {
                isLost.value
                    ? [ServiceCondition(.launcher, reason: "no answer", remedy: "start it", stopsWork: true)] : []
            }
            #expect(await found(health) == [.launcher])
            // when
            isLost.withLock { $0 = false }
            await health.examine()
            // then: it is not due yet
            #expect(health.troubles.map(\.kind) == [.launcher])
            core.time.advance(by: .seconds(60))
            await health.examine()
            #expect(health.troubles == [])
        }
    }

    @Test(.proves(.badInput, "A trouble's texts are one line each and bounded"))
    func testThatTextsAreOneLineAndBounded() {
        // when
        let condition = ServiceCondition(
            .delivery, subject: String(repeating: "é", count: 1000), reason: "a\u{1B}[31m\nb",
            remedy: String(repeating: "x", count: 2000))
        // then
        #expect(condition.subject.utf8.count <= ServiceCondition.maximumSubject)
        #expect(!condition.reason.contains("\n") && !condition.reason.contains("\u{1B}"))
        #expect(condition.remedy.utf8.count == ServiceCondition.maximumText)
        #expect(condition.remedy.hasSuffix("…"))
    }
}
