import Basics
import Releases
import TestSupport
import Testing

@testable import Web

/// Any client may request a version's page any number of times. Its signature is verified once.
@Suite struct VersionSealsTests {
    @Test(
        .proves(
            .releases,
            "Registry: A version's page: whether the signature fits and whose key it is; which service made it, of how many inputs"
        ))
    func testThatAVersionIsReadOnceUntilOneOfItsFilesIsAnother() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let names = ["SHA256SUMS", "SHA256SUMS.sig", "provenance.json"].map { "kit/1.0.0/" + $0 }
            for name in names { try directory.write("files/" + name, "a") }
            let files = try Directory(opening: directory.path("files"))
            let version = try files.directory("kit/1.0.0")
            let count = Locked(0)
            let seals = VersionSeals { directory, files in
                count.withLock { $0 += 1 }
                return VersionSeal(of: directory, in: files)
            }

            // when
            for _ in 0..<3 { #expect(seals.seal(of: version, in: files, at: "kit/1.0.0").signature == .wrong) }
            // then
            #expect(count.value == 1)

            for (number, name) in (names + [AllowedSigners.fileName]).enumerated() {
                // when
                try directory.write("files/" + name, "longer than before")
                for _ in 0..<2 { _ = seals.seal(of: version, in: files, at: "kit/1.0.0") }
                // then
                #expect(count.value == number + 2, "\(name)")
            }

            // when
            _ = seals.seal(of: version, in: files, at: "kit/1.0.1")
            // then
            #expect(count.value == 6, "another version is another")
        }
    }
}
