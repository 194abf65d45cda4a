import Archives
import Basics
import Model
import TestSupport
import Testing

@Suite struct ArtifactPackerTests {
    private func packer(_ triple: String = "x86_64-unknown-linux-gnu") throws -> ArtifactPacker {
        ArtifactPacker(
            product: try #require(Name("kit")), commit: try #require(CommitID(String(repeating: "ab", count: 20))),
            configuration: try #require(Name("release")), triple: triple,
            modified: Timestamp(secondsSinceEpoch: 1_700_000_000), lane: BlockingLane(label: "test"))
    }

    @Suite struct GivenASwiftPackage {
        @Test(.program("zstd")) func testThatItPacksProductsAndSourceUnderTheProductsName() async throws {
            try await withTemporaryDirectory { directory in
                // given
                try directory.write("artifacts/products/bin/kit", "elf", mode: 0o755)
                try directory.write("artifacts/products/lib/libKit.a", "!<arch>")
                try directory.write("source/Package.swift", "// swift-tools-version: 6.2\n")

                // when
                let packed = try await ArtifactPackerTests().packer().pack(
                    tree: directory.path("artifacts"), source: directory.path("source"),
                    into: directory.path("archives"))

                // then
                #expect(
                    packed.artifacts.map(\.path) == [
                        "kit-abababababab-release-x86_64-unknown-linux-gnu.tar.zst", "kit-abababababab-source.tar.gz",
                    ])
                #expect(packed.artifacts.map(\.configuration) == [Name("release"), nil])
                for artifact in packed.artifacts {
                    let (digest, size) = try Digest.sha256(ofFile: directory.path("archives/" + artifact.path))
                    #expect(artifact.sha256 == digest)
                    #expect(artifact.size == ByteCount(size))
                }
                let products = try await runExpectingSuccess([
                    "tar", "--zstd", "-tf", directory.path("archives/" + packed.artifacts[0].path),
                ])
                expectEqualLines(products, "kit/\nkit/bin/\nkit/bin/kit\nkit/lib/\nkit/lib/libKit.a\n")
                let source = try await runExpectingSuccess([
                    "tar", "-tzf", directory.path("archives/" + packed.artifacts[1].path),
                ])
                expectEqualLines(source, "kit/\nkit/Package.swift\n")
            }
        }
    }

    @Suite struct GivenCollectedFiles {
        @Test(.program("zstd")) func testThatItKeepsTheirPaths() async throws {
            try await withTemporaryDirectory { directory in
                // given
                try directory.write("artifacts/products/a", "x")
                try directory.write("artifacts/manual.pdf", "y")

                // when
                let packed = try await ArtifactPackerTests().packer().pack(
                    tree: directory.path("artifacts"), source: nil, into: directory.path("archives"))

                // then
                let names = try await runExpectingSuccess([
                    "tar", "--zstd", "-tf", directory.path("archives/" + packed.artifacts[0].path),
                ])
                expectEqualLines(names, "kit/\nkit/manual.pdf\nkit/products/\nkit/products/a\n")
            }
        }
    }

    @Test func testThatItPacksNothingWhenNothingWasCollected() async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.makeDirectory("artifacts/products/lib")

            // when
            let empty = try await packer().pack(
                tree: directory.path("artifacts"), source: nil, into: directory.path("archives"))
            let absent = try await packer().pack(
                tree: directory.path("nowhere"), source: nil, into: directory.path("archives"))

            // then
            #expect(empty.artifacts == [])
            #expect(absent.artifacts == [])
        }
    }

    @Test func testThatItReplacesWhatAnInterruptedCallLeft() async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.write("artifacts/file", "x")
            try directory.write("archives/half.tar.zst", "half")

            // when
            let packed = try await packer().pack(
                tree: directory.path("artifacts"), source: nil, into: directory.path("archives"))

            // then
            #expect(packed.artifacts.count == 1)
            expectNoFile(directory.path("archives/half.tar.zst"))
        }
    }

    @Test func testThatItLeavesNothingWhenItFails() async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.write("artifacts/file", "x")

            // when
            await expectRejection(ArchiveError.self, \.code, .invalidName) {
                try await packer("no triple").pack(
                    tree: directory.path("artifacts"), source: nil, into: directory.path("archives"))
            }
            await expectRejection(ArchiveError.self, \.code, .file) {
                try await packer().pack(
                    tree: directory.path("artifacts"), source: directory.path("nowhere"),
                    into: directory.path("archives"))
            }

            // then
            expectNoFile(directory.path("archives"))
        }
    }
}
