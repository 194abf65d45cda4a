import Basics
import Foundation
import Model
import TestSupport
import Testing

@testable import Releases

@Suite(.program("ssh-keygen")) struct DescriptionCheckTests {
    private static let names = VersionCheck.descriptions

    private func check(_ place: String, _ files: [StagedFile]) throws -> DescriptionCheck {
        DescriptionCheck(of: try Directory(opening: place), files: files.map(\.artifact))
    }

    /// Runs a test with a copy of a signed version, and the files that are recorded for it.
    private func withVersion(_ body: (_ copy: String, _ files: [StagedFile]) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await SigningFixture(directory)
            let copy = try await fixture.copy(try await fixture.publish())
            try await body(
                copy, try fixture.versions.files(["kit.tar.zst": "library 1.4.2", "kit-source.tar.gz": "source 1.4.2"]))
        }
    }

    @Test func testThatWhatWasPublishedIsWholeWithItsDigests() async throws {
        try await withVersion { copy, files in
            let check = try check(copy, files)
            #expect(check.damaged == [:])
            for name in Self.names {
                let bytes = try WholeFile.read("\(copy)/\(name)", limit: 1 << 20)
                #expect(check.whole[name]?.sha256 == Digest.sha256(of: bytes))
                #expect(check.whole[name]?.size.bytes == Int64(bytes.count))
            }
        }
    }

    /// Only the changed file is reported, even if other files have its digest.
    @Test(
        .proves(
            .releases,
            "Serving: A damaged manifest, provenance, `SHA256SUMS` or signature is not served as good, is found by the scrub, and is distinguished from the others (R4)"
        ), arguments: names)
    func testR4ThatAFlippedBitIsFoundWhereItIs(name: String) async throws {
        try await withVersion { copy, files in
            let bytes = try WholeFile.read("\(copy)/\(name)", limit: 1 << 20)
            for index in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 40)) {
                // when
                var flipped = bytes
                flipped[index] ^= 1 << (index % 8)
                try AtomicFile.write(flipped, to: "\(copy)/\(name)")
                // then
                let check = try check(copy, files)
                #expect(Array(check.damaged.keys) == [name], "bit \(index % 8) of byte \(index)")
                #expect(check.whole[name] == nil)
            }
        }
    }

    @Test(arguments: names) func testThatOneThatIsMissingIsSaid(name: String) async throws {
        try await withVersion { copy, files in
            try FileManager.default.removeItem(atPath: "\(copy)/\(name)")
            let check = try check(copy, files)
            #expect(check.damaged == [name: .missing])
        }
    }

    /// The files fit each other and the signature, but belong to another version.
    @Test func testThatSumsOfOtherFilesThanAreRecordedAreDamage() async throws {
        try await withVersion { copy, files in
            let others = files.dropLast()
            let check = try check(copy, Array(others))
            #expect(Array(check.damaged.keys) == ["SHA256SUMS"])
        }
    }

    /// Without a signature, the recorded digests prove the sums, and the sums prove the manifest.
    @Test(arguments: [("manifest.json", "manifest.json"), ("SHA256SUMS", "SHA256SUMS")])
    func testThatAVersionWithoutASignatureIsJudgedToo(changed: String, damaged: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let fixture = try VersionFixture(directory)
            let files = try fixture.files(["kit.tar.zst": "bytes"])
            _ = try await fixture.publish("1.4.2")
            let place = directory.path("files/\(fixture.product)/1.4.2")
            let before = try check(place, files)
            #expect(before.damaged == [:])
            // when
            var bytes = try WholeFile.read("\(place)/\(changed)", limit: 1 << 20)
            bytes[0] ^= 1
            try AtomicFile.write(bytes, to: "\(place)/\(changed)")
            // then
            let found = try check(place, files)
            #expect(Array(found.damaged.keys) == [damaged])
        }
    }
}
