import ArchiveSupport
import Archives
import Basics
import Model
import TestSupport
import Testing

@testable import Releases

@Suite struct VersionStoreTests {
    @Test func testThatItPublishesFilesWithManifestAndSums() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let fixture = try VersionFixture(directory)

            // when
            let outcome = try await fixture.publish("1.4.2", ["kit.tar.zst": "library", "a b.txt": "text"])

            // then
            #expect(outcome == .published)
            let place = directory.path("files/kit/1.4.2")
            expectFile(place + "/kit.tar.zst", "library")
            try await runExpectingSuccess(["sha256sum", "-c", "--strict", "SHA256SUMS"], in: place)
            let manifest = try directory.text("files/kit/1.4.2/manifest.json")
            expectContains(manifest, "\"integration\" : \"kit#3\"")
            expectContains(manifest, "\"published\" : \"2023-11-14T22:13:20.250Z\"")
            #expect(try fixture.staged() == [])
            for entry in try Directory(opening: place).entries() {
                #expect(try Directory(opening: place).status(entry.bytes)?.mode == 0o444)
            }
        }
    }

    @Test func testThatItReadsItsManifestBack() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let fixture = try VersionFixture(directory)
            let files = try fixture.files(["kit.tar.zst": "library"])
            let written = try fixture.manifest("1.4.2", files)
            _ = try await fixture.store.publish(fixture.store.stage(written, files: files))

            // when
            let read = try await fixture.store.manifest(product: fixture.product, version: SemanticVersion(1, 4, 2))
            let absent = try await fixture.store.manifest(product: fixture.product, version: SemanticVersion(9, 9, 9))

            // then
            #expect(read == written)
            #expect(absent == nil)
        }
    }

    @Test func testThatItListsWhatItWouldWriteItself() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let fixture = try VersionFixture(directory)
            for version in ["1.10.0", "1.9.0", "2.0.0-rc.1"] { try await fixture.publish(version) }
            for other in ["not-a-version", "01.2.3", "1.2"] { try directory.makeDirectory("files/kit/\(other)") }
            try directory.write("files/README", "not a product")

            // when
            let versions = try await fixture.store.versions(of: fixture.product)

            // then
            #expect(versions.map(\.description) == ["1.9.0", "1.10.0", "2.0.0-rc.1"])
            #expect(try await fixture.store.products() == [fixture.product])
            #expect(try await fixture.store.versions(of: #require(Name("other"))) == [])
        }
    }

    @Test(arguments: ["manifest.json", "provenance.json", "SHA256SUMS", "SHA256SUMS.sig", "yanked.json"])
    func testThatItRefusesAFileWithAReservedName(name: String) async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try VersionFixture(directory)
            await expectRejection(ArchiveError.self, \.code, .invalidName) {
                try await fixture.publish("1.0.0", [name: "x"])
            }
            expectNoFile(directory.path("files/kit"))
        }
    }

    @Test(arguments: ["../up", "a/b", "", ".", "..", ".hidden", "-rf", "new\nline", "back\\slash"])
    func testThatItRefusesANameThatIsNoPlainFile(name: String) async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try VersionFixture(directory)
            await expectRejection(ArchiveError.self, \.code, .invalidName) {
                try await fixture.publish("1.0.0", [name: "x"])
            }
            #expect(try fixture.staged() == [])
        }
    }

    @Test(.proves(.steps, "Two files of one name are an error before anything is published"))
    func testThatItRefusesTwoFilesOfOneNameBeforeAnythingIsWritten() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let fixture = try VersionFixture(directory)
            let files = try fixture.files(["kit.tar.zst": "one"]) + fixture.files(["kit.tar.zst": "two"])

            // when
            let error = await expectRejection(ArchiveError.self, \.code, .duplicateName) {
                try await fixture.store.stage(fixture.manifest("1.0.0", files), files: files)
            }

            // then
            expectContains(error?.message ?? "", "kit.tar.zst")
            #expect(try fixture.staged() == [])
        }
    }

    @Test func testThatItRefusesAFileThatIsNotWhatWasArchived() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let fixture = try VersionFixture(directory)
            let files = try fixture.files(["kit.tar.zst": "right"])
            try AtomicFile.write(Array("wrong".utf8), to: files[0].source)

            // when, then
            await expectRejection(ArchiveError.self, \.code, .corrupted) {
                try await fixture.store.stage(fixture.manifest("1.0.0", files), files: files)
            }
            #expect(try fixture.staged() == [])
        }
    }

    @Suite struct GivenAPublishedVersion {
        @Suite struct WhenTheVersionIsPublishedAgain {
            @Test func testThatTheSameFilesAreSuccess() async throws {
                try await withTemporaryDirectory { directory in
                    // given
                    let fixture = try VersionFixture(directory)
                    try await fixture.publish("1.0.0", ["kit.tar.zst": "bytes"], integration: 3)

                    // when
                    let outcome = try await fixture.publish("1.0.0", ["kit.tar.zst": "bytes"], integration: 4)

                    // then
                    guard case .already(let manifest) = outcome else {
                        Issue.record("\(outcome), expected .already")
                        return
                    }
                    #expect(manifest.integration.description == "kit#3")
                    #expect(try fixture.staged() == [])
                }
            }

            @Test func testThatItRefusesOtherBytes() async throws {
                try await withTemporaryDirectory { directory in
                    // given
                    let fixture = try VersionFixture(directory)
                    try await fixture.publish("1.0.0", ["kit.tar.zst": "bytes"])

                    // when
                    let error = await expectRejection(ArchiveError.self, \.code, .exists) {
                        try await fixture.publish("1.0.0", ["kit.tar.zst": "other"], integration: 4)
                    }

                    // then
                    expectContains(error?.description ?? "", "was published by kit#3")
                    expectFile(directory.path("files/kit/1.0.0/kit.tar.zst"), "bytes")
                    #expect(try fixture.staged() == [])
                }
            }
        }

        @Suite struct WhenItIsYanked {
            @Test(.proves(.versions, "Yanked versions stay fetchable and leave ranges"))
            func testThatRangesPassItOverAndItStays() async throws {
                try await withTemporaryDirectory { directory in
                    // given
                    let fixture = try VersionFixture(directory)
                    for version in ["1.4.0", "1.4.1", "2.0.0"] { try await fixture.publish(version) }
                    let (store, kit) = (fixture.store, fixture.product)

                    // when
                    for version in ["1.4.1", "2.0.0"] {
                        try await store.yank(
                            product: kit, version: fixture.version(version), reason: "loses \"data\"",
                            at: Timestamp(secondsSinceEpoch: 1_700_000_000))
                    }

                    // then
                    #expect(try await store.resolve(.latest, product: kit)?.description == "1.4.0")
                    let range = try #require(VersionRange("~1.4"))
                    #expect(try await store.resolve(range, product: kit)?.description == "1.4.0")
                    let exact = try VersionRange.exactly(fixture.version("1.4.1"))
                    #expect(try await store.resolve(exact, product: kit)?.description == "1.4.1")
                    let yanked = try await store.yanked(product: kit)
                    #expect(
                        try yanked[fixture.version("2.0.0")]
                            == Yanking(reason: "loses \"data\"", at: Timestamp(secondsSinceEpoch: 1_700_000_000)))
                    #expect(try await store.versions(of: kit).count == 3)
                }
            }
        }

        @Test func testThatYankingWhatIsNotPublishedIsRefused() async throws {
            try await withTemporaryDirectory { directory in
                let fixture = try VersionFixture(directory)
                try await fixture.publish("1.0.0")
                await expectRejection(ArchiveError.self, \.code, .notFound) {
                    try await fixture.store.yank(
                        product: fixture.product, version: fixture.version("1.0.1"), reason: "",
                        at: Timestamp(secondsSinceEpoch: 0))
                }
            }
        }

        @Test func testThatARenamedDirectoryIsNotTakenForAnotherVersion() async throws {
            try await withTemporaryDirectory { directory in
                // given
                let fixture = try VersionFixture(directory)
                try await fixture.publish("1.0.0")
                try await runExpectingSuccess(["mv", "1.0.0", "3.0.0"], in: directory.path("files/kit"))

                // when, then
                await expectRejection(ArchiveError.self, \.code, .corrupted) {
                    try await fixture.store.manifest(product: fixture.product, version: fixture.version("3.0.0"))
                }
            }
        }
    }

    @Test(.proves(.versions, "Move 3: renamed without replacing"))
    func testThatOneOfTwoWhoPublishTheSameVersionWins() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let fixture = try VersionFixture(directory)
            let other = try VersionStore(files: directory.path("files"), staging: directory.path("staging"))
            let (mine, theirs) = (try fixture.files(["kit": "mine"]), try fixture.files(["kit": "theirs"]))
            let first = try await fixture.store.stage(fixture.manifest("1.0.0", mine), files: mine)
            let second = try await other.stage(fixture.manifest("1.0.0", theirs, integration: 4), files: theirs)

            // when
            async let one = Result { () async throws(ArchiveError) in try await fixture.store.publish(first) }
            async let two = Result { () async throws(ArchiveError) in try await other.publish(second) }
            let outcomes = await [one, two]

            // then
            let published = outcomes.filter { if case .success(.published) = $0 { true } else { false } }
            #expect(published.count == 1)
            try fixture.expectWholeOrAbsent("1.0.0", names: ["kit"])
            #expect(try fixture.staged() == [])
        }
    }

    @Test func testThatItClearsWhatAnInterruptedPublishingLeft() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let fixture = try VersionFixture(directory)
            let files = try fixture.files(["kit": "x"])
            _ = try await fixture.store.stage(fixture.manifest("1.0.0", files), files: files)

            // when
            try await fixture.store.clearStaging()

            // then
            #expect(try fixture.staged() == [])
        }
    }
}

extension Result {
    fileprivate init(_ body: () async throws(Failure) -> Success) async {
        do throws(Failure) {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
