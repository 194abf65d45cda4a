import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct StoreScansTests {
    private static func integrations(_ fixture: StoreFixture) async throws -> [IntegrationRecord] {
        var records: [IntegrationRecord] = []
        for outline in try await fixture.store.integrations().items.reversed() {
            records.append(try #require(try await fixture.store.integration(outline.id)))
        }
        return records
    }

    @Suite struct GivenARepositoryNeverScanned {
        @Test(
            .proves(
                .intake,
                "A first look and wider patterns integrate each tip once, with tags as the baseline; a bot whose file was missing integrates what it missed, tags too"
            ))
        func testThatMatchingBranchesGetOneIntegrationOfTheirTip() async throws {
            try await withStore { fixture in
                // when
                let other = RefName(branch: "topic")
                let outcome = try await fixture.scan([.main: commit(1), .line: commit(2), other: commit(3)])

                // then
                let integrations = try await StoreScansTests.integrations(fixture)
                #expect(outcome.integrations == integrations.map(\.id))
                #expect(integrations.map(\.ref) == [.main, .line])
                #expect(integrations.map(\.commit) == [try commit(1), try commit(2)])
                #expect(integrations.map(\.cause) == [.baseline, .baseline])
                #expect(integrations.map(\.isRelease) == [false, true])
                #expect(integrations.map(\.state) == [.queued, .queued])
                #expect(outcome.refUpdates.map(\.outcome) == [.integrated, .integrated, .ignored])
                #expect(outcome.refUpdates.last?.reason == "no bot watches this ref")
            }
        }

        @Test(
            .proves(
                .intake,
                "A first look and wider patterns integrate each tip once, with tags as the baseline; a bot whose file was missing integrates what it missed, tags too"
            ))
        func testThatTagsAreTheBaseline() async throws {
            try await withStore { fixture in
                let tag = RefName(tag: "1.0.0")
                let outcome = try await fixture.scan(
                    [tag: commit(1)], watchers: [fixture.watcher(branches: [], tags: ["*"])])
                #expect(outcome.integrations == [])
                #expect(outcome.refUpdates.map(\.outcome) == [.baseline])
                #expect(try await StoreScansTests.integrations(fixture) == [])
            }
        }

        @Test func testThatItStoresWhatItSaw() async throws {
            try await withStore { fixture in
                try await fixture.scan([.main: commit(1), RefName(tag: "main"): commit(2)])
                #expect(
                    try await fixture.store.heads(of: StoreFixture.repository)
                        == [.main: commit(1), RefName(tag: "main"): commit(2)])
                let repository = try #require(try await fixture.store.repository(StoreFixture.repository))
                #expect(repository.defaultBranch == .main)
                #expect(repository.lastScan == time(100))
                #expect(repository.hasHeads)
                #expect(!repository.isScanRequested)
            }
        }
    }

    /// Its file was missing for a moment, and another bot's look has stored the refs that moved meanwhile.
    @Test(
        .proves(
            .intake,
            "A first look and wider patterns integrate each tip once, with tags as the baseline; a bot whose file was missing integrates what it missed, tags too"
        ))
    func testThatABotThatComesBackIntegratesWhatItHasMissed() async throws {
        try await withStore(["kit", "lint"]) { fixture in
            // given
            let (kit, lint) = (try fixture.watcher(), try fixture.watcher("lint"))
            try await fixture.scan([.main: commit(1), .line: commit(2)], watchers: [kit, lint])
            let bots = try await fixture.store.specifications()
            try await fixture.store.register(bots.filter { $0.name.description == "lint" }, at: time(101))
            try await fixture.scan(
                [.main: commit(3), .line: commit(2), RefName(branch: "release/2"): commit(4)], watchers: [lint])
            // when
            try await fixture.store.register(bots, at: time(102))
            let outcome = try await fixture.scan(
                [.main: commit(3), .line: commit(2), RefName(branch: "release/2"): commit(4)], watchers: [kit, lint])
            // then: its earlier commits are not integrated again
            let missed = try await StoreScansTests.integrations(fixture).filter { outcome.integrations.contains($0.id) }
            #expect(missed.map(\.id.bot.description) == ["kit", "kit"])
            #expect(missed.map(\.ref) == [.main, RefName(branch: "release/2")])
        }
    }

    /// A tag that was pushed while the file was missing is released. Tags from before the bot's first scan are not.
    @Test(
        .proves(
            .intake,
            "A first look and wider patterns integrate each tip once, with tags as the baseline; a bot whose file was missing integrates what it missed, tags too"
        ), arguments: [false, true])
    func testThatABotThatComesBackIntegratesTagsThatCameMeanwhile(isStoredByAnother: Bool) async throws {
        try await withStore(["kit", "lint"]) { fixture in
            // given
            let (kit, lint) = (try fixture.watcher(tags: ["*"]), try fixture.watcher("lint"))
            let before: [RefName: CommitID] = [.main: try commit(1), RefName(tag: "1.0"): try commit(2)]
            try await fixture.scan(before, watchers: [kit, lint])
            let bots = try await fixture.store.specifications()
            try await fixture.store.register(bots.filter { $0.name.description == "lint" }, at: time(101))
            let after = before.merging([RefName(tag: "1.1"): try commit(3)]) { $1 }
            if isStoredByAnother { try await fixture.scan(after, watchers: [lint]) }
            // when
            try await fixture.store.register(bots, at: time(102))
            let outcome = try await fixture.scan(after, watchers: [kit, lint])
            // then
            let missed = try await StoreScansTests.integrations(fixture).filter { outcome.integrations.contains($0.id) }
            #expect(missed.map { "\($0.id.bot) \($0.ref)" } == ["kit refs/tags/1.1"])
            // when: it looks again
            let again = try await fixture.scan(after, watchers: [kit, lint])
            // then
            #expect(again.integrations.isEmpty)
        }
    }

    @Test(
        .proves(
            .intake,
            "A first look and wider patterns integrate each tip once, with tags as the baseline; a bot whose file was missing integrates what it missed, tags too"
        ))
    func testThatABotThatComesBackWithWiderPatternsLeavesOldTagsAlone() async throws {
        try await withStore(["kit"]) { fixture in
            // given
            let heads: [RefName: CommitID] = [.main: try commit(1), RefName(tag: "1.0"): try commit(2)]
            try await fixture.scan(heads)
            let bots = try await fixture.store.specifications()
            try await fixture.store.register([], at: time(101))
            // when
            try await fixture.store.register(bots, at: time(102))
            let outcome = try await fixture.scan(heads, watchers: [fixture.watcher(tags: ["*"])])
            // then
            #expect(outcome.integrations.isEmpty)
            let outcomes = try await fixture.store.refUpdates().items.filter { $0.ref.tag != nil }.map(\.outcome)
            #expect(outcomes == [.baseline])
        }
    }

    @Suite struct GivenAScan {
        @Test(.proves(.storage, "Refs with head and generation; a scan compared with them in one transaction"))
        func testThatTheSameScanAgainChangesNothing() async throws {
            try await withStore { fixture in
                let heads: [RefName: CommitID] = [.main: try commit(1), .line: try commit(2)]
                try await fixture.scan(heads)
                let again = try await fixture.scan(heads)
                #expect(again == ScanOutcome(refUpdates: [], integrations: []))
                #expect(try await fixture.store.refUpdates().items.count == 2)
                #expect(try await StoreScansTests.integrations(fixture).count == 2)
            }
        }

        @Test(
            .proves(.storage, "Refs with head and generation; a scan compared with them in one transaction"),
            .proves(.storage, "Ref updates: UNIQUE(repository, ref, generation)"),
            .proves(.intake, "A→B→A→B, forced pushes, deleted and recreated branches"))
        func testThatGoingToAndFroIsFourUpdates() async throws {
            try await withStore { fixture in
                // when
                for number in [1, 2, 1, 2] { try await fixture.scan([.main: commit(number)]) }

                // then
                let updates = try await fixture.store.refUpdates().items.reversed()
                #expect(updates.map(\.generation) == [1, 2, 3, 4])
                #expect(updates.map(\.before) == [nil, try commit(1), try commit(2), try commit(1)])
                #expect(updates.map(\.after) == [try commit(1), try commit(2), try commit(1), try commit(2)])
                #expect(updates.map(\.integrations.count) == [1, 1, 1, 1])
                #expect(try await StoreScansTests.integrations(fixture).map(\.id.number) == [1, 2, 3, 4])
            }
        }

        @Test(arguments: [Cause.push, .poll])
        func testThatAMovedBranchIsIntegratedForItsCause(cause: Cause) async throws {
            try await withStore { fixture in
                try await fixture.scan([.main: commit(1)])
                // A force push is a move like any other, because ancestry is not checked.
                let outcome = try await fixture.scan([.main: commit(9)], cause: cause)
                let record = try #require(try await fixture.store.integration(outcome.integrations[0]))
                #expect(record.cause == cause)
                #expect(record.commit == (try commit(9)))
                #expect(outcome.refUpdates.map(\.integrations) == [outcome.integrations])
            }
        }

        @Test func testThatACreatedBranchAndTagAreIntegrated() async throws {
            try await withStore { fixture in
                let watchers = [try fixture.watcher(tags: ["*"])]
                try await fixture.scan([.main: commit(1)], watchers: watchers)
                let tag = RefName(tag: "1.4.0")
                let outcome = try await fixture.scan(
                    [.main: commit(1), .line: commit(1), tag: commit(1)], watchers: watchers)
                let records = try await StoreScansTests.integrations(fixture).suffix(2)
                #expect(outcome.integrations.count == 2)
                #expect(records.map(\.ref) == [.line, tag])
                #expect(records.map(\.cause) == [.push, .push])
            }
        }

        @Test func testThatADeletedBranchIsIgnoredAndItsReturnIntegrated() async throws {
            try await withStore { fixture in
                // given
                try await fixture.scan([.main: commit(1)])

                // when
                let deleted = try await fixture.scan([:])
                let returned = try await fixture.scan([.main: commit(1)])

                // then
                #expect(deleted.integrations == [])
                #expect(deleted.refUpdates.map(\.outcome) == [.ignored])
                #expect(deleted.refUpdates.map(\.reason) == ["the ref was deleted"])
                #expect(deleted.refUpdates.map(\.after) == [nil])
                #expect(returned.refUpdates.map(\.generation) == [3])
                #expect(returned.refUpdates.map(\.before) == [nil])
                #expect(returned.integrations.count == 1)
            }
        }

        @Test func testThatATagAndABranchOfOneNameAreKeptApart() async throws {
            try await withStore { fixture in
                // given
                let tag = RefName(tag: "main")
                try await fixture.scan([.main: commit(1), tag: commit(2)])

                // when
                let outcome = try await fixture.scan([.main: commit(1), tag: commit(3)])

                // then
                #expect(outcome.refUpdates.map(\.ref) == [tag])
                #expect(outcome.integrations == [])
                #expect(try await fixture.store.heads(of: StoreFixture.repository)[.main] == commit(1))
            }
        }

        @Test(.proves(.storage, "Ref updates: UNIQUE(repository, ref, generation)"))
        func testThatEachBotIntegratesTheUpdateOnce() async throws {
            try await withStore(["kit", "lint"]) { fixture in
                let watchers = [try fixture.watcher(), try fixture.watcher("lint", branches: ["main"])]
                try await fixture.scan([.main: commit(1)], watchers: watchers)
                let outcome = try await fixture.scan([.main: commit(2)], watchers: watchers)
                #expect(outcome.integrations.map(\.description) == ["kit#2", "lint#2"])
                #expect(outcome.refUpdates.first?.integrations.map(\.description) == ["kit#2", "lint#2"])
            }
        }

        @Test func testThatARetiredBotIntegratesNothing() async throws {
            try await withStore(["kit", "lint"]) { fixture in
                let watchers = [try fixture.watcher(), try fixture.watcher("lint")]
                try await fixture.store.register(
                    [BotSpecification(name: name("kit"), repository: StoreFixture.repository)], at: time(1))
                let outcome = try await fixture.scan([.main: commit(1)], watchers: watchers)
                #expect(outcome.integrations.map(\.bot.description) == ["kit"])
            }
        }
    }

    @Suite struct GivenWidenedPatterns {
        @Test(
            .proves(
                .intake,
                "A first look and wider patterns integrate each tip once, with tags as the baseline; a bot whose file was missing integrates what it missed, tags too"
            ))
        func testThatNewlyMatchingBranchesGetOneIntegrationAndTagsNone() async throws {
            try await withStore { fixture in
                // given
                let tag = RefName(tag: "1.0.0")
                let heads: [RefName: CommitID] = [.main: try commit(1), .line: try commit(2), tag: try commit(3)]
                try await fixture.scan(heads, watchers: [fixture.watcher(branches: ["main"])])

                // when
                let wide = [try fixture.watcher(branches: ["main", "release/*"], tags: ["*"])]
                let outcome = try await fixture.scan(heads, watchers: wide)
                let again = try await fixture.scan(heads, watchers: wide)

                // then
                #expect(outcome.refUpdates == [])
                let records = try await StoreScansTests.integrations(fixture)
                #expect(records.map(\.ref) == [.main, .line])
                #expect(records.map(\.cause) == [.baseline, .baseline])
                let outcomes = try await fixture.store.refUpdates().items.reversed().map(\.outcome)
                #expect(outcomes == [.integrated, .integrated, .baseline])
                #expect(again.integrations == [])
            }
        }

        @Test func testThatWhatMovedMeanwhileIsAPush() async throws {
            try await withStore { fixture in
                // given
                let (old, new) = (RefName(tag: "1.0.0"), RefName(tag: "1.1.0"))
                try await fixture.scan(
                    [.main: commit(1), old: commit(1)], watchers: [fixture.watcher(branches: ["main"])])

                // when
                let outcome = try await fixture.scan(
                    [.main: commit(2), old: commit(1), new: commit(2)],
                    watchers: [fixture.watcher(branches: ["main"], tags: ["*"])])

                // then
                let records = try await StoreScansTests.integrations(fixture).suffix(2)
                #expect(outcome.integrations.count == 2)
                #expect(records.map(\.ref) == [.main, new])
                #expect(records.map(\.cause) == [.push, .push])
            }
        }

        @Test func testThatNarrowingAndWideningAgainJudgesNoCommitTwice() async throws {
            try await withStore { fixture in
                let heads: [RefName: CommitID] = [.main: try commit(1), .line: try commit(2)]
                try await fixture.scan(heads)
                try await fixture.scan(heads, watchers: [fixture.watcher(branches: ["main"])])
                let outcome = try await fixture.scan(heads)
                #expect(outcome.integrations == [])
            }
        }

        @Test func testThatABotThatIsAddedLaterGetsTheTips() async throws {
            try await withStore { fixture in
                // given
                try await fixture.scan([.main: commit(1)])
                let kit = BotSpecification(name: try name("kit"), repository: StoreFixture.repository)
                var lint = kit
                lint.name = try name("lint")
                try await fixture.store.register([kit, lint], at: time(2))

                // when
                let outcome = try await fixture.scan(
                    [.main: commit(1)], watchers: [fixture.watcher(), fixture.watcher("lint")])

                // then
                #expect(outcome.integrations.map(\.description) == ["lint#1"])
            }
        }
    }

    @Suite struct GivenTheScanFlag {
        @Test func testThatAnEventDuringTheScanKeepsItSet() async throws {
            try await withStore { fixture in
                // given
                _ = try await fixture.push([RefClaim(ref: .main, before: nil, after: commit(1))], id: "d-1")
                let request = try #require(try await fixture.store.repositoriesToScan().first)
                _ = try await fixture.push([RefClaim(ref: .main, before: commit(1), after: commit(2))], id: "d-2")

                // when
                _ = try await fixture.store.apply(
                    RefScan(
                        request: request, heads: [.main: commit(1)], defaultBranch: .main, at: time(60), cause: .push,
                        watchers: [fixture.watcher()]))

                // then
                #expect(try await fixture.store.repositoriesToScan().map(\.sequence) == [request.sequence + 1])
                let outcomes = try await fixture.store.deliveries().items.map(\.outcome)
                #expect(outcomes == [.pending, .integrated])
                try await fixture.scan([.main: commit(2)])
                #expect(try await fixture.store.repositoriesToScan() == [])
                #expect(try await fixture.store.deliveries().items.map(\.outcome) == [.integrated, .integrated])
            }
        }

        @Test func testThatAFailedScanKeepsItAndIsCounted() async throws {
            try await withStore { fixture in
                // given
                _ = try await fixture.push(id: "d-1")
                let request = try #require(try await fixture.store.repositoriesToScan().first)

                // when
                try await fixture.store.scanFailed(request, reason: "connection refused", at: time(2))
                try await fixture.store.scanFailed(request, reason: "connection refused", at: time(3))

                // then
                let repository = try #require(try await fixture.store.repository(StoreFixture.repository))
                #expect(repository.failures == 2)
                #expect(repository.lastError == "connection refused")
                #expect(try await fixture.store.repositoriesToScan() == [request])
                #expect(try await fixture.store.deliveries().items.map(\.outcome) == [.pending])

                // and
                try await fixture.scan([:])
                #expect(try await fixture.store.repository(StoreFixture.repository)?.failures == 0)
                #expect(try await fixture.store.repository(StoreFixture.repository)?.lastError == nil)
            }
        }

        @Test func testThatARepositoryOfRetiredBotsIsNotScanned() async throws {
            try await withStore { fixture in
                #expect(try await fixture.store.repositoriesToScan().count == 1)
                try await fixture.store.register([], at: time(1))
                #expect(try await fixture.store.repositoriesToScan() == [])
            }
        }

        @Test func testThatAScanAtAnUnknownRepositoryIsRefused() async throws {
            try await withStore { fixture in
                let request = ScanRequest(repository: "https://elsewhere.example/x", sequence: 1)
                await expectFailure(.notFound) {
                    try await fixture.store.apply(
                        RefScan(
                            request: request, heads: [:], defaultBranch: nil, at: time(1), cause: .poll, watchers: []))
                }
                await expectFailure(.notFound) { try await fixture.store.scanFailed(request, reason: "", at: time(1)) }
            }
        }
    }
}
