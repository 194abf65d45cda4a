import Basics
import Model
import TestSupport
import Testing

@testable import Archives

@Suite struct ArtifactPackerTests {
    private func packer(_ triple: String = "x86_64-unknown-linux-gnu") throws -> ArtifactPacker {
        ArtifactPacker(
            product: try #require(Name("kit")), commit: try #require(CommitID(String(repeating: "ab", count: 20))),
            configuration: try #require(Name("release")), triple: triple,
            modified: Timestamp(secondsSinceEpoch: 1_700_000_000), queue: SerialQueue(label: "test"))
    }

    @Suite struct GivenASwiftPackage {
        @Test(
            .proves(
                .steps,
                "Archive of a Swift package: source archive, executables, each library product as a static library with modules and headers"
            ), .program("zstd"))
        func testThatItPacksProductsAndSourceUnderTheProductsName() async throws {
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

/// Archives for binary targets of SwiftPM.
@Suite(
    .proves(
        .releases,
        "Registry: Binary products are `.artifactbundle`s with checksum and `binaryTarget` lines to paste: executables, a C library, the build's own bundles"
    ))
struct ArtifactBundleTests {
    private func pack(_ directory: TemporaryDirectory, isBundled: Bool) async throws -> [Artifact] {
        try await ArtifactPacker(
            product: try #require(Name("kit")), commit: try #require(CommitID(String(repeating: "ab", count: 20))),
            configuration: try #require(Name("release")), triple: "x86_64-unknown-linux-gnu",
            modified: Timestamp(secondsSinceEpoch: 1_700_000_000), isBundled: isBundled,
            queue: SerialQueue(label: "test")
        ).pack(tree: directory.path("artifacts"), source: nil, into: directory.path("archives")).artifacts
            .filter { $0.path.hasSuffix(".zip") }
    }

    @Test func testThatExecutablesAndALibraryOfCAreBundled() async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.write("artifacts/products/bin/tool", "elf", mode: 0o755)
            try directory.write("artifacts/products/bin/Kit_Tool.resources/words.txt", "one")
            try directory.write("artifacts/products/lib/libCKit.a", "!<arch>")
            try directory.write("artifacts/products/include/CKit/module.modulemap", "module CKit {}")
            try directory.write("artifacts/products/include/CKit/ckit.h", "int x;")
            // when
            let artifacts = try await pack(directory, isBundled: true)
            let first = artifacts.map(\.sha256)
            // then
            #expect(artifacts.map(\.path) == ["kit-abababababab-kit.artifactbundle.zip"])
            #expect(artifacts.map(\.configuration) == [Name("release")])
            let archive = directory.path("archives/kit-abababababab-kit.artifactbundle.zip")
            let place = "kit.artifactbundle/x86_64-unknown-linux-gnu"
            expectEqualLines(
                try await runExpectingSuccess(["unzip", "-Z1", archive]),
                """
                kit.artifactbundle/
                kit.artifactbundle/info.json
                \(place)/bin/Kit_Tool.resources/words.txt
                \(place)/bin/tool
                \(place)/include/CKit/ckit.h
                \(place)/include/CKit/module.modulemap
                \(place)/lib/libCKit.a

                """)
            expectEqualLines(
                try await runExpectingSuccess(["unzip", "-p", archive, "kit.artifactbundle/info.json"]),
                """
                {
                  "artifacts" : {
                    "CKit" : {
                      "type" : "staticLibrary",
                      "variants" : [
                        {
                          "path" : "x86_64-unknown-linux-gnu/lib/libCKit.a",
                          "staticLibraryMetadata" : {
                            "headerPaths" : [
                              "x86_64-unknown-linux-gnu/include/CKit"
                            ],
                            "moduleMapPath" : "x86_64-unknown-linux-gnu/include/CKit/module.modulemap"
                          },
                          "supportedTriples" : [
                            "x86_64-unknown-linux-gnu"
                          ]
                        }
                      ],
                      "version" : "abababababab"
                    },
                    "tool" : {
                      "type" : "executable",
                      "variants" : [
                        {
                          "path" : "x86_64-unknown-linux-gnu/bin/tool",
                          "supportedTriples" : [
                            "x86_64-unknown-linux-gnu"
                          ]
                        }
                      ],
                      "version" : "abababababab"
                    }
                  },
                  "schemaVersion" : "1.0"
                }

                """)
            let modes = try await runExpectingSuccess(["unzip", "-Z", archive, "\(place)/bin/tool"])
            #expect(modes.hasPrefix("-rwxr-xr-x"), "\(modes)")
            // when: the same files are packed again
            #expect(try await pack(directory, isBundled: true).map(\.sha256) == first)
        }
    }

    /// A library with Swift code is for one compiler. Several libraries have no common header.
    @Test func testThatALibraryOfSwiftIsLeftOut() async throws {
        try await withTemporaryDirectory { directory in
            try directory.write("artifacts/products/lib/libKit.a", "!<arch>")
            try directory.write("artifacts/products/modules/Kit.swiftmodule", "x")
            #expect(try await pack(directory, isBundled: true).isEmpty)
            try directory.write("artifacts/products/include/CKit/module.modulemap", "module CKit {}")
            #expect(try await pack(directory, isBundled: true).isEmpty)
        }
    }

    @Test func testThatNothingIsBundledUnasked() async throws {
        try await withTemporaryDirectory { directory in
            try directory.write("artifacts/products/bin/tool", "elf", mode: 0o755)
            #expect(try await pack(directory, isBundled: false).isEmpty)
        }
    }

    @Test func testThatBundlesOfTheBuildAreArchivesOfTheirOwn() async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.write("artifacts/out/Other.artifactbundle/info.json", "{}")
            try directory.write("artifacts/out/Other.artifactbundle/inner.artifactbundle/info.json", "{}")
            try directory.write("artifacts/out/empty.artifactbundle/readme", "no bundle")
            // when
            let artifacts = try await pack(directory, isBundled: false)
            // then
            #expect(artifacts.map(\.path) == ["kit-abababababab-Other.artifactbundle.zip"])
            expectEqualLines(
                try await runExpectingSuccess([
                    "unzip", "-Z1", directory.path("archives/kit-abababababab-Other.artifactbundle.zip"),
                ]),
                """
                Other.artifactbundle/
                Other.artifactbundle/info.json
                Other.artifactbundle/inner.artifactbundle/
                Other.artifactbundle/inner.artifactbundle/info.json

                """)
        }
    }

    /// A job can make any number of bundles; the search ends with the first one over the limit.
    @Test func testThatTooManyBundlesEndTheSearchAtOnce() async throws {
        try await withTemporaryDirectory { directory in
            // given: 48 bundles, which with the directories around them are more than the limit of searched directories
            for number in 0..<48 {
                try directory.write("tree/\(number / 6)/b\(number).artifactbundle/info.json", "{}")
            }
            // when
            let error = #expect(throws: ArchiveError.self) {
                try ArtifactBundle.made(beneath: try Directory(opening: directory.path("tree")), limit: 44)
            }
            // then
            #expect(error?.code == .tooLarge)
            #expect(error?.description.contains("more than 32 directories end in .artifactbundle") == true)
        }
    }

    /// The bundle's name is part of lines of Swift that users paste.
    @Test func testThatABundleWithAQuoteInItsNameIsNone() async throws {
        try await withTemporaryDirectory { directory in
            try directory.write("tree/a\"b.artifactbundle/info.json", "{}")
            try directory.write("tree/ab.artifactbundle/info.json", "{}")
            let made = try ArtifactBundle.made(beneath: try Directory(opening: directory.path("tree")))
            #expect(made.map(\.name) == ["ab"])
        }
    }
}
