import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct StoreVersionsTests {
    /// Publishes as the publisher does, without files.
    struct Publisher {
        let fixture: StoreFixture
        var store: Store { fixture.store }
        var product: Name { get throws { try name("kit") } }

        /// Requests the next version of `release/1.4`.
        func ask(
            _ commit: Int, integration: Int, isAncestor: Bool = false, onDisk: [String] = [], ref: RefName = .line
        ) async throws -> Reservation {
            let newest = try await store.newestPublished(product: product, branch: "release/1.4")
            return try await ask(
                commit, integration: integration,
                .branch(major: 1, minor: 4, newest: newest?.version, isAncestor: isAncestor), onDisk: onDisk)
        }

        func ask(
            _ number: Int, integration: Int, _ source: VersionRequest.Source, onDisk: [String] = []
        ) async throws -> Reservation {
            try await store.reserve(
                VersionRequest(
                    product: product, integration: IntegrationID(bot: name("kit"), number: integration),
                    commit: commit(number), ref: .line, source: source, onDisk: try onDisk.map(version)),
                at: time(70))
        }

        func publish(_ text: String) async throws {
            try await store.publish(product: product, version: version(text), files: [], at: time(80))
        }
    }

    static func withPublisher(_ body: (Publisher) async throws -> Void) async throws {
        try await withStore { try await body(Publisher(fixture: $0)) }
    }

    @Suite struct GivenAReleaseBranch {
        @Test func testThatNumbersCountUp() async throws {
            try await withPublisher { publisher in
                for number in 0..<3 {
                    let expected = try version("1.4.\(number)")
                    #expect(try await publisher.ask(number, integration: number + 1) == .reserved(expected))
                    try await publisher.publish("1.4.\(number)")
                }
                let product = try publisher.product
                #expect(try await publisher.store.versions(of: product).map(\.version.patch) == [2, 1, 0])
                #expect(
                    try await publisher.store.newestPublished(product: product, branch: "release/1.4")?.version
                        == version("1.4.2"))
                #expect(try await publisher.store.products() == [product])
            }
        }

        @Test(arguments: [
            (["1.4.7"], "1.4.8"), (["1.5.9", "2.4.3", "1.40.2"], "1.4.0"), (["1.4.10", "1.4.9"], "1.4.11"),
            (["1.4.3-rc.1"], "1.4.3"), (["1.4.3-rc.1", "1.4.3"], "1.4.4"), (["1.4.2+build.5"], "1.4.3"),
            (["1.4.9223372036854775807", "1.4.9"], "1.4.9223372036854775808"),
        ])
        func testThatTheNextNumberIsAboveAllOnDisk(onDisk: [String], expected: String) async throws {
            try await withPublisher { publisher in
                let answer = try await publisher.ask(1, integration: 1, onDisk: onDisk)
                #expect(answer == .reserved(try version(expected)))
            }
        }

        @Test(.proves(.versions, "Publishing, move 1: the row is reserved; the next number is above database and disk"))
        func testThatItIsAboveTheDatabasesAndTheDisks() async throws {
            try await withPublisher { publisher in
                _ = try await publisher.ask(1, integration: 1)
                #expect(try await publisher.ask(2, integration: 2, onDisk: ["1.4.0"]) == .reserved(version("1.4.1")))
                #expect(try await publisher.ask(3, integration: 3, onDisk: ["1.4.5"]) == .reserved(version("1.4.6")))
            }
        }

        @Test func testThatALineWithoutNumbersIsAConflict() async throws {
            try await withPublisher { publisher in
                let answer = try await publisher.ask(
                    1, integration: 1, onDisk: ["1.4." + String(repeating: "9", count: 124)])
                guard case .conflict(let sentence) = answer else {
                    Testing.Issue.record("\(answer)")
                    return
                }
                #expect(sentence.contains("no number left"))
            }
        }

        @Test(.proves(.versions, "Publishing, move 1: the row is reserved; the next number is above database and disk"))
        func testThatARerunOfAPublishedCommitIsAlreadyThere() async throws {
            try await withPublisher { publisher in
                _ = try await publisher.ask(1, integration: 1)
                try await publisher.publish("1.4.0")
                #expect(try await publisher.ask(1, integration: 9) == .already(version("1.4.0")))
                // It holds also if the commit is meanwhile an ancestor of a newer one.
                _ = try await publisher.ask(2, integration: 2)
                try await publisher.publish("1.4.1")
                #expect(try await publisher.ask(1, integration: 9, isAncestor: true) == .already(version("1.4.0")))
            }
        }

        @Test(.proves(.versions, "Publishing, move 1: the row is reserved; the next number is above database and disk"))
        func testThatAnAncestorIsSuperseded() async throws {
            try await withPublisher { publisher in
                _ = try await publisher.ask(2, integration: 2)
                try await publisher.publish("1.4.0")
                let answer = try await publisher.ask(1, integration: 1, isAncestor: true)
                #expect(answer == .superseded(by: try version("1.4.0")))
                #expect(try await publisher.store.versions(of: publisher.product).count == 1)
            }
        }

        @Test func testThatTheQuestionIsAskedAgainWhenAnotherWasPublishedMeanwhile() async throws {
            try await withPublisher { publisher in
                // given: requested while there was no version
                _ = try await publisher.ask(2, integration: 2)
                try await publisher.publish("1.4.0")

                // when
                let answer = try await publisher.ask(
                    1, integration: 1, .branch(major: 1, minor: 4, newest: nil, isAncestor: false))

                // then
                #expect(answer == .newestChanged(to: try version("1.4.0")))
                #expect(try await publisher.store.reservations() == [])
            }
        }

        @Test func testThatAskingAgainGivesTheSameNumber() async throws {
            try await withPublisher { publisher async throws in
                #expect(try await publisher.ask(1, integration: 1) == .reserved(version("1.4.0")))
                #expect(try await publisher.ask(1, integration: 1) == .reserved(version("1.4.0")))
                #expect(try await publisher.store.reservations().map(\.integration.number) == [1])
            }
        }

        @Test(.proves(.storage, "Versions: UNIQUE(product, version) and (product, branch, commit)"))
        func testThatTwoRacingIntegrationsGetTwoNumbers() async throws {
            try await withPublisher { publisher in
                // when
                let answers = try await withThrowingTaskGroup(of: Reservation.self) { group in
                    for number in 1...20 {
                        group.addTask { try await publisher.ask(number, integration: number) }
                    }
                    return try await group.reduce(into: [Reservation]()) { $0.append($1) }
                }

                // then
                #expect(Set(answers) == Set(try (0..<20).map { .reserved(try version("1.4.\($0)")) }))
            }
        }

        @Test(.proves(.storage, "Versions: UNIQUE(product, version) and (product, branch, commit)"))
        func testThatTwoRacingIntegrationsOfOneCommitGetOneNumber() async throws {
            try await withPublisher { publisher in
                // given
                for number in 1...2 { _ = try await publisher.fixture.queue(number) }

                // when
                async let one = publisher.ask(5, integration: 1)
                async let two = publisher.ask(5, integration: 2)
                let answers = try await [one, two]

                // then
                #expect(answers.filter { $0 == .reserved(SemanticVersion(1, 4, 0)) }.count == 1)
                #expect(
                    answers.contains {
                        if case .conflict(let text) = $0 { text.contains("is being published by kit#") } else { false }
                    })
                #expect(try await publisher.store.versions(of: publisher.product).count == 1)
            }
        }

        @Test func testThatAReservationOfACompletedIntegrationIsTakenOver() async throws {
            try await withPublisher { publisher in
                // given
                let first = try await publisher.fixture.queue().id
                _ = try await publisher.ask(5, integration: 1)
                try await publisher.store.apply(.completed(.succeeded, triggerFailed: true), to: first, at: time(71))

                // when
                let answer = try await publisher.ask(5, integration: 2)

                // then
                #expect(answer == .reserved(try version("1.4.0")))
                #expect(try await publisher.store.reservations().map(\.integration.number) == [2])
            }
        }
    }

    @Suite struct GivenATag {
        @Test func testThatItsVersionIsReservedAndPublishedOnce() async throws {
            try await withPublisher { publisher in
                let requested = try version("2.0.0-rc.1")
                #expect(try await publisher.ask(1, integration: 1, .exactly(requested)) == .reserved(requested))
                try await publisher.publish("2.0.0-rc.1")
                #expect(try await publisher.ask(1, integration: 2, .exactly(requested)) == .already(requested))
            }
        }

        @Test func testThatAnotherCommitUnderItIsAConflict() async throws {
            try await withPublisher { publisher in
                let requested = try version("2.0.0")
                _ = try await publisher.ask(1, integration: 1, .exactly(requested))
                try await publisher.publish("2.0.0")
                let answer = try await publisher.ask(2, integration: 2, .exactly(requested))
                guard case .conflict(let sentence) = answer else {
                    Testing.Issue.record("\(answer)")
                    return
                }
                #expect(sentence.contains("kit#1 and never changes"))
            }
        }

        @Test func testThatADirectoryWithoutARowIsAConflict() async throws {
            try await withPublisher { publisher in
                let answer = try await publisher.ask(1, integration: 1, .exactly(version("2.0.0")), onDisk: ["2.0.0"])
                guard case .conflict(let sentence) = answer else {
                    Testing.Issue.record("\(answer)")
                    return
                }
                #expect(sentence.contains("adopt"))
            }
        }
    }

    @Suite struct GivenAReservation {
        private let files = [Artifact(configuration: nil, path: "kit.tar.zst", size: ByteCount(3), sha256: "ab")]

        @Test(.proves(.versions, "Move 4: the row is published"))
        func testThatItIsPublishedWithItsFilesOnce() async throws {
            try await withPublisher { publisher in
                // given
                _ = try await publisher.ask(1, integration: 1)
                let (store, product, number) = (publisher.store, try publisher.product, try version("1.4.0"))
                #expect(try await store.products() == [])

                // when
                try await store.publish(product: product, version: number, files: files, at: time(80))
                try await store.publish(product: product, version: number, files: files, at: time(81))
                await expectFailure(.exists, "never changes") {
                    try await store.publish(product: product, version: number, files: [], at: time(82))
                }

                // then
                let record = try #require(try await store.versions(of: product).first)
                #expect(record.state == .published)
                #expect(record.files == files)
                #expect(record.publishedAt == time(80))
                #expect(record.commit == (try commit(1)))
            }
        }

        @Test func testThatAnAbandonedOneIsGoneAndAPublishedOneStays() async throws {
            try await withPublisher { publisher in
                let (store, product, number) = (publisher.store, try publisher.product, try version("1.4.0"))
                _ = try await publisher.ask(1, integration: 1)
                try await store.abandon(product: product, version: number)
                try await store.abandon(product: product, version: number)
                #expect(try await store.reservations() == [])
                await expectFailure(.notFound) { try await publisher.publish("1.4.0") }

                _ = try await publisher.ask(1, integration: 1)
                try await publisher.publish("1.4.0")
                await expectFailure(.illegalTransition, "yanked") {
                    try await store.abandon(product: product, version: number)
                }
                #expect(try await store.versions(of: product).count == 1)
            }
        }

        @Test func testThatOnlyAPublishedOneIsYankedAndItsNumberStaysUsed() async throws {
            try await withPublisher { publisher in
                let (store, product, number) = (publisher.store, try publisher.product, try version("1.4.0"))
                _ = try await publisher.ask(1, integration: 1)
                await expectFailure(.notFound) { try await store.yank(product: product, version: number, at: time(1)) }
                try await publisher.publish("1.4.0")
                try await store.yank(product: product, version: number, at: time(90))
                try await store.yank(product: product, version: number, at: time(91))
                #expect(try await store.versions(of: product).map(\.isYanked) == [true])
                #expect(try await publisher.ask(2, integration: 2) == .reserved(version("1.4.1")))
            }
        }
    }

    @Suite struct GivenADirectoryWithoutARow {
        @Test func testThatItIsAdoptedAndItsCommitCounts() async throws {
            try await withPublisher { publisher in
                // given
                let record = VersionRecord(
                    product: try publisher.product, version: try version("1.4.3"), state: .published, isYanked: true,
                    commit: try commit(7), ref: .line, integration: IntegrationID(bot: try name("lost"), number: 12),
                    publishedAt: time(5))

                // when
                try await publisher.store.adopt(record, isFromBranch: true, at: time(100))
                try await publisher.store.adopt(record, isFromBranch: true, at: time(101))

                // then
                #expect(try await publisher.store.versions(of: publisher.product) == [record])
                #expect(try await publisher.ask(7, integration: 1) == .already(version("1.4.3")))
                #expect(try await publisher.ask(8, integration: 2) == .reserved(version("1.4.4")))
            }
        }

        /// Numbers are never used again, even if only the version is left of an integration and its bot is created later.
        @Test(
            .proves(
                .releases,
                "Versions: An integration's number is never used again, even after the database was lost or an older one restored"
            ), arguments: ["kit", "later", "ki"])
        func testThatItsIntegrationsNumberIsUsedUp(bot: String) async throws {
            try await withPublisher { publisher in
                // given
                let id = IntegrationID(bot: try name(bot), number: 41)
                let record = VersionRecord(
                    product: try publisher.product, version: try version("1.4.3"), state: .published,
                    commit: try commit(7), ref: .line, integration: id, publishedAt: time(5))
                // when
                try await publisher.store.adopt(record, isFromBranch: true, at: time(100))
                try await publisher.store.register(
                    ["kit", "later"].map { BotSpecification(name: try name($0), repository: StoreFixture.repository) },
                    at: time(101))
                // then
                for other in ["kit", "later"] {
                    let new = try await publisher.store.queue(
                        NewIntegration(bot: try name(other), ref: .line, commit: try commit(8), cause: .push),
                        at: time(102))
                    #expect(new.id.number == (bot == other ? 42 : 1))
                }
            }
        }

        @Test func testThatAReservedRowBecomesPublished() async throws {
            try await withPublisher { publisher in
                _ = try await publisher.ask(7, integration: 1)
                var record = try #require(try await publisher.store.reservations().first)
                record.publishedAt = time(6)
                try await publisher.store.adopt(record, isFromBranch: true, at: time(100))
                record.state = .published
                #expect(try await publisher.store.versions(of: publisher.product) == [record])
            }
        }
    }
}
