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

    /// - Parameter probe: What the examination of the launcher and the sandbox finds.
    private func health(_ core: Core, probe: @escaping ServiceHealth.Probe = { [] }) -> ServiceHealth {
        let state = StateDirectory(path: core.directory.path)
        let settings = ServiceSettings(
            state: core.directory.path, bots: core.directory.path("bots"), concurrency: 1,
            secrets: core.directory.path("secrets"))
        return ServiceHealth(
            store: core.store, registry: core.registry,
            disk: DiskGuard(state: state, workspaces: Workspaces(root: state.workspaces), logger: core.log.logger),
            places: [], settings: settings, secrets: core.secrets, probe: probe, clock: core.time.clock)
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
