import ArchiveSupport
import Archives
import Basics
import Model
import TestSupport
import Testing

@testable import Releases

/// Each file operation of staging and publishing fails once. The version is never partly visible.
@Suite struct VersionStoreFailureTests {
    @Test(
        .proves(.versions, "Move 2: staged beside, every file and directory synchronized"),
        .proves(
            .releases,
            "Versions: `SHA256SUMS.sig`, which `ssh-keygen -Y verify` accepts; its key from a systemd credential, out of reach of jobs"
        ), arguments: [false, true])
    func testThatAVersionIsNeverSeenHalf(isDoneFirst: Bool) async throws {
        let content = ["kit.tar.zst": "library", "kit-source.tar.gz": "source"]
        var count = 0
        var hasSucceeded = false
        while !hasSucceeded {
            count += 1
            try #require(count < 50)
            try await withTemporaryDirectory { directory in
                // given
                let fixture = try VersionFixture(
                    directory, operations: FailingFiles(failing: count, isDoneFirst: isDoneFirst))

                // when
                do {
                    try await fixture.publish("1.0.0", content)
                    hasSucceeded = true
                } catch let error as ArchiveError {
                    #expect(error.code == .file)
                }

                // then
                try fixture.expectWholeOrAbsent("1.0.0", names: Set(content.keys))
                // The next try, after a restart, publishes the version once.
                let again = try VersionFixture(directory)
                try await again.store.clearStaging()
                try await again.publish("1.0.0", content)
                try again.expectWholeOrAbsent("1.0.0", names: Set(content.keys))
                #expect(try await again.store.versions(of: again.product).count == 1)
                #expect(try again.staged() == [])
            }
        }
        // The operations are mkdir, 2 copies, 2 writes, fsync; mkdir, fsync, rename, 2 fsyncs.
        #expect(count == 12)
    }

    @Test(.program("ssh-keygen"), arguments: [false, true])
    func testThatASignatureAppearsWithItsVersionOrNotAtAll(isDoneFirst: Bool) async throws {
        var count = 0
        var hasSucceeded = false
        while !hasSucceeded {
            count += 1
            try #require(count < 50)
            try await withTemporaryDirectory { directory in
                // given
                let fixture = try await SigningFixture(
                    directory, operations: FailingFiles(failing: count, isDoneFirst: isDoneFirst))
                let place = directory.path("files/kit/1.4.2")

                // when
                do {
                    try await fixture.publish()
                    hasSucceeded = true
                } catch let error as ArchiveError {
                    #expect(error.code == .file)
                }

                // then: if the version is visible, it is complete
                if try directory.directory().status("files/kit/1.4.2") != nil {
                    let check = try VersionCheck(of: place, signers: fixture.signers)
                    #expect(check.problems == [])
                    #expect(check.trust == .signed(fixture.signers.signers[0]))
                }
            }
        }
        // A signature needs two more writes.
        #expect(count == 14)
    }

    @Test(.proves(.badInput, "A full disk loses no result"), .smallDisk)
    func testThatAFullDiskIsNamedAndNothingIsSeen() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let small = try directory.makeDirectory("small")
            try await SmallDisk.mounted(on: small) {
                let fixture = try VersionFixture(directory)
                let store = try VersionStore(files: small + "/files", staging: small + "/staging")
                let files = try fixture.files(["large": String(repeating: "x", count: 200_000)])

                // when
                let error = await expectRejection(ArchiveError.self, \.code, .file) {
                    try await store.stage(fixture.manifest("1.0.0", files), files: files)
                }

                // then
                expectContains(error?.description ?? "", "No space left on device")
                #expect(try await store.versions(of: fixture.product) == [])
                #expect(try Directory(opening: small + "/staging").entries().isEmpty)
            }
        }
    }
}
