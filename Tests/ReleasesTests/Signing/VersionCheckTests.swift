import Archives
import Basics
import Foundation
import Model
import TestSupport
import Testing

@testable import Releases

@Suite(.program("ssh-keygen")) struct VersionCheckTests {
    static let names = [
        "SHA256SUMS", "SHA256SUMS.sig", "kit-source.tar.gz", "kit.tar.zst", "manifest.json", "provenance.json",
    ]

    @Test func testThatASignedVersionIsWholeForUsAndForTheUsualTools() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let fixture = try await SigningFixture(directory)

            // when
            let place = try await fixture.publish()

            // then
            #expect(try Directory(opening: place).entries().map(\.name) == Self.names)
            let check = try VersionCheck(of: place, signers: fixture.signers)
            #expect(check.problems == [])
            #expect(check.trust == .signed(fixture.signers.signers[0]))
            #expect(check.manifest?.version.description == "1.4.2")
            #expect(check.count == 4)
            try await runExpectingSuccess(["sha256sum", "-c", "--strict", "SHA256SUMS"], in: place)
            #expect(try await fixture.verifiedByOpenSSH(place))
            #expect(try await !fixture.verifiedByOpenSSH(place, principal: "https://other.example"))
            for entry in try Directory(opening: place).entries() {
                #expect(try Directory(opening: place).status(entry.bytes)?.mode == 0o444)
            }
        }
    }

    /// The copy has hard links, as made by `cp -al`.
    @Test(
        .proves(
            .releases, "Serving: Published files that have second names (`cp -al`) are served, verified and uploaded"))
    func testThatACopyOfSecondNamesIsWhole() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await SigningFixture(directory)
            try await runExpectingSuccess(["cp", "-al", try await fixture.publish(), directory.path("linked")])
            #expect(try VersionCheck(of: directory.path("linked"), signers: fixture.signers).problems == [])
        }
    }

    @Test(
        .proves(.releases, "Versions: `martlet verify DIRECTORY` checks all of it without a network"), arguments: names)
    func testR4ThatAFlippedBitIsFoundInEachFile(name: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let fixture = try await SigningFixture(directory)
            let copy = try await fixture.copy(try await fixture.publish())
            let bytes = try WholeFile.read("\(copy)/\(name)", limit: 1 << 20)

            // when, then: at forty places of each file
            for index in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 40)) {
                var flipped = bytes
                flipped[index] ^= 1 << (index % 8)
                try AtomicFile.write(flipped, to: "\(copy)/\(name)")
                let check = try? VersionCheck(of: copy, signers: fixture.signers)
                // Sums that cannot be parsed are another error.
                if name == "SHA256SUMS", check == nil { continue }
                #expect(try #require(check).problems.isEmpty == false, "bit \(index % 8) of byte \(index)")
            }
            try AtomicFile.write(bytes, to: "\(copy)/\(name)")
            #expect(try VersionCheck(of: copy, signers: fixture.signers).problems == [])
        }
    }

    @Test(
        .proves(.releases, "Versions: `martlet verify DIRECTORY` checks all of it without a network"),
        arguments: names.dropFirst())
    func testThatAFileThatIsMissingIsSaid(name: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let fixture = try await SigningFixture(directory)
            let copy = try await fixture.copy(try await fixture.publish())

            // when
            try FileManager.default.removeItem(atPath: "\(copy)/\(name)")

            // then
            let check = try VersionCheck(of: copy, signers: fixture.signers)
            let reason = name == "SHA256SUMS.sig" ? "missing, though provenance.json is signed" : "missing"
            #expect(check.problems == ["\(name): \(reason)"])
        }
    }

    @Test(.proves(.releases, "Versions: `martlet verify DIRECTORY` checks all of it without a network"))
    func testThatWhatIsTooMuchOrNoFileIsSaid() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let fixture = try await SigningFixture(directory)
            let copy = try await fixture.copy(try await fixture.publish())

            // when
            try directory.write("copy/extra", "x")
            try directory.makeDirectory("copy/subdirectory")
            try directory.write("outside", "library 1.4.2")
            try FileManager.default.removeItem(atPath: "\(copy)/kit.tar.zst")
            try FileManager.default.createSymbolicLink(
                atPath: "\(copy)/kit.tar.zst", withDestinationPath: directory.path("outside"))

            // then
            #expect(
                try VersionCheck(of: copy, signers: fixture.signers).problems == [
                    "extra: not in SHA256SUMS",
                    "kit.tar.zst: is not a regular file, and a version has nothing else",
                    "subdirectory: is not a regular file, and a version has nothing else",
                ])
        }
    }

    /// HFS+ and some network shares change the bytes of a name: it is another name to sha256sum, though the same text to Unicode.
    @Test(.proves(.releases, "Versions: `martlet verify DIRECTORY` checks all of it without a network"))
    func testThatNamesAreTheirBytes() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
            let sums = Checksums([composed: Digest.sha256(of: Array("x".utf8))])
            try directory.write("version/SHA256SUMS", sums.bytes)
            try directory.write("version/\(decomposed)", "x")

            // when
            let check = try VersionCheck(of: directory.path("version"), signers: AllowedSigners())

            // then
            #expect(
                check.problems.map { Array($0.utf8) }
                    == [
                        "\(decomposed): not in SHA256SUMS", "\(composed): missing", "manifest.json: not in SHA256SUMS",
                    ].map { Array($0.utf8) })
        }
    }

    @Test(.proves(.releases, "Versions: `martlet verify DIRECTORY` checks all of it without a network"))
    func testThatWhoSignedIsToldApart() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let fixture = try await SigningFixture(directory)
            let other = try await SigningFixture.key(in: directory, "other")

            // when
            let signed = try await fixture.publish("1.4.0", by: other)
            let unsigned = try await fixture.publish("1.4.1", isSigned: false)

            // then
            let stranger = try VersionCheck(of: signed, signers: fixture.signers)
            #expect(stranger.problems == [])
            #expect(stranger.trust == .unknown(other.publicKey))
            let nobody = try VersionCheck(of: unsigned, signers: fixture.signers)
            #expect(nobody.problems == [])
            #expect(nobody.trust == .unsigned)
            #expect(!FileManager.default.fileExists(atPath: unsigned + "/SHA256SUMS.sig"))
        }
    }

    @Test func testThatOnlyThePartThatWasFetchedHasToBeThere() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let fixture = try await SigningFixture(directory)
            let copy = try await fixture.copy(try await fixture.publish())
            try FileManager.default.removeItem(atPath: "\(copy)/kit-source.tar.gz")

            // when, then
            #expect(try VersionCheck(of: copy, signers: fixture.signers, part: ["kit.tar.zst"]).problems == [])
            #expect(
                try VersionCheck(of: copy, signers: fixture.signers, part: ["kit-source.tar.gz"]).problems == [
                    "kit-source.tar.gz: missing"
                ])
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: `provenance.json` is an in-toto statement with the SLSA v1 predicate in a DSSE envelope, with digests of every input"
        ))
    func testU9ThatAStatementOfAnotherVersionIsRefused() async throws {
        try await withTemporaryDirectory { directory in
            // given: a genuine statement of another version beside other files, placed by an attacker with another key
            let fixture = try await SigningFixture(directory)
            let other = try await fixture.publish("1.4.3")
            let copy = try await fixture.copy(try await fixture.publish("1.4.2"))
            let thief = try await SigningFixture.key(in: directory, "thief")

            // when
            let provenance = try WholeFile.read("\(other)/provenance.json", limit: 1 << 20)
            try AtomicFile.write(provenance, to: "\(copy)/provenance.json")
            var sums = try #require(Checksums(try WholeFile.read("\(copy)/SHA256SUMS", limit: 1 << 20)))
            sums.digests["provenance.json"] = Digest.sha256(of: provenance)
            try AtomicFile.write(sums.bytes, to: "\(copy)/SHA256SUMS")
            let signature = try SSHSignature(of: sums.bytes, by: thief)
            try AtomicFile.write(Array(signature.armored.utf8), to: "\(copy)/SHA256SUMS.sig")

            // then
            let check = try VersionCheck(of: copy, signers: fixture.signers)
            #expect(check.trust == .unknown(thief.publicKey))
            #expect(
                check.problems == [
                    "provenance.json: is about other files than SHA256SUMS",
                    "provenance.json: names another commit, version or integration than manifest.json",
                    "provenance.json: is not signed by \(thief.publicKey.fingerprint), which signed SHA256SUMS",
                ])
        }
    }

    @Test func testThatADirectoryWithoutSumsIsNoVersion() async throws {
        try await withTemporaryDirectory { directory in
            _ = await expectRejection(ArchiveError.self, \.code, .notFound) {
                try VersionCheck(of: directory.path, signers: AllowedSigners())
            }
        }
    }
}
