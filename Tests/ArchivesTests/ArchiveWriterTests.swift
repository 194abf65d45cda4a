import Archives
import Basics
import Model
import TestSupport
import Testing

@Suite struct ArchiveWriterTests {
    private static let time = Timestamp(secondsSinceEpoch: 1_700_000_000)

    /// Makes a tree with an empty directory, a deep path, an executable, links, a long name and UTF-8.
    private func makeTree(_ directory: TemporaryDirectory, _ name: String) throws -> Directory {
        try directory.write("\(name)/bin/tool", "#!/bin/sh\n", mode: 0o755)
        try directory.write("\(name)/lib/libkit.a", "archive", mode: 0o600)
        try directory.write("\(name)/include/deep/er/kit.h", "int kit;\n")
        try directory.write("\(name)/" + String(repeating: "n", count: 200), "long name")
        try directory.write("\(name)/größe.txt", "utf-8")
        try directory.makeDirectory("\(name)/empty")
        let tree = try Directory(opening: directory.path(name))
        try tree.makeLink("lib/libkit.so", target: Array("libkit.a".utf8))
        try tree.makeLink("include/tool", target: Array("../bin/tool".utf8))
        return tree
    }

    private func pack(_ tree: Directory, _ format: ArchiveFormat, _ path: String) throws -> ArchiveWriter.Report {
        try ArchiveWriter.pack(directory: tree, prefix: "kit", format: format, to: path, modified: Self.time)
    }

    @Test(
        .proves(.versions, "Deterministic tar.zst, tar.gz and zip with libarchive"), arguments: ArchiveFormat.allCases)
    func testThatItWritesTheSameBytesForTheSameTree(format: ArchiveFormat) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let first = try makeTree(directory, "first")
            let second = try makeTree(directory, "second")
            // Neither a different time nor a different owner may show in the archive.
            try await runExpectingSuccess(["touch", "-d", "2001-02-03", directory.path("second/bin/tool")])
            _ = try await run(["chown", "-R", "1234:1234", directory.path("second/lib")])

            // when
            _ = try pack(first, format, directory.path("1"))
            _ = try pack(second, format, directory.path("2"))

            // then
            #expect(try Digest.sha256(ofFile: directory.path("1")) == Digest.sha256(ofFile: directory.path("2")))
        }
    }

    @Test(.proves(.versions, "Deterministic tar.zst, tar.gz and zip with libarchive"), .program("zstd"))
    func testThatTarReadsWhatItWrote() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let tree = try makeTree(directory, "tree")

            // when
            let report = try pack(tree, .tarZstandard, directory.path("kit.tar.zst"))

            // then
            let listing = try await runExpectingSuccess(
                ["tar", "--zstd", "-tvf", directory.path("kit.tar.zst"), "--numeric-owner", "--utc", "--full-time"],
                environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"])
            let lines = listing.split(separator: "\n")
            #expect(lines.count == report.entries + 1)
            #expect(lines.allSatisfy { $0.contains(" 0/0 ") && $0.contains("2023-11-14 22:13:20") })
            expectContains(listing, "-rwxr-xr-x 0/0")
            expectContains(listing, "kit/lib/libkit.so -> libkit.a")
            expectContains(listing, "kit/größe.txt")
            #expect(report.leftOut == [])
            try await runExpectingSuccess(
                ["tar", "--zstd", "-xf", directory.path("kit.tar.zst"), "-C", directory.makeDirectory("out")])
            expectFile(directory.path("out/kit/include/deep/er/kit.h"), "int kit;\n")
            expectFile(directory.path("out/kit/include/tool"), "#!/bin/sh\n")
        }
    }

    @Test(.proves(.versions, "Deterministic tar.zst, tar.gz and zip with libarchive"))
    func testThatGzipHasNeitherTimeNorName() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let tree = try makeTree(directory, "tree")

            // when
            _ = try pack(tree, .tarGzip, directory.path("kit.tar.gz"))

            // then
            let bytes = try WholeFile.read(directory.path("kit.tar.gz"), limit: 1 << 20)
            #expect(Array(bytes[0..<8]) == [0x1f, 0x8b, 8, 0, 0, 0, 0, 0])
            try await runExpectingSuccess(["gzip", "-t", directory.path("kit.tar.gz")])
            try await runExpectingSuccess(["tar", "-tzf", directory.path("kit.tar.gz")])
        }
    }

    @Test(.proves(.versions, "Deterministic tar.zst, tar.gz and zip with libarchive"), .program("unzip"))
    func testThatUnzipFindsNothingWrong() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let tree = try makeTree(directory, "tree")

            // when
            _ = try pack(tree, .zip, directory.path("kit.zip"))

            // then
            try await runExpectingSuccess(["unzip", "-tq", directory.path("kit.zip")])
            try await runExpectingSuccess(["unzip", "-q", directory.path("kit.zip"), "-d", directory.path("out")])
            #expect(try directory.directory().status("out/kit/bin/tool")?.isExecutable == true)
            expectFile(directory.path("out/kit/lib/libkit.a"), "archive")
        }
    }

    @Test(arguments: ["/etc/passwd", "../../outside", "deep/../../../x", "a/../.././../.."])
    func testThatItLeavesLinksOutThatLeadOutside(target: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.write("tree/sub/file", "x")
            let tree = try Directory(opening: directory.path("tree"))
            try tree.makeLink("sub/link", target: Array(target.utf8))

            // when
            let report = try pack(tree, .tarGzip, directory.path("kit.tar.gz"))

            // then
            #expect(report.leftOut == ["sub/link: the link leads out of the tree"])
            let listing = try await runExpectingSuccess(["tar", "-tzf", directory.path("kit.tar.gz")])
            expectEqualLines(listing, "kit/\nkit/sub/\nkit/sub/file\n")
        }
    }

    @Test(.program("mkfifo"), .timeLimit(TestLimits.minutes(1)))
    func testThatItNeitherPacksNorWaitsForAPipe() async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.write("tree/file", "x")
            try await runExpectingSuccess(["mkfifo", directory.path("tree/pipe")])

            // when
            let report = try pack(Directory(opening: directory.path("tree")), .zip, directory.path("kit.zip"))

            // then
            #expect(report.leftOut == ["pipe: neither file, directory nor link"])
            #expect(report.entries == 1)
        }
    }

    @Test func testThatItRefusesToWriteOverAFile() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let tree = try makeTree(directory, "tree")
            try directory.write("taken", "mine")

            // when, then
            await expectRejection(ArchiveError.self, \.code, .file) { try pack(tree, .zip, directory.path("taken")) }
            expectFile(directory.path("taken"), "mine")
        }
    }

    @Test(arguments: ["", "..", "a/b", ".hidden", "new\nline"])
    func testThatItRefusesATopDirectoryThatIsNone(prefix: String) async throws {
        try await withTemporaryDirectory { directory in
            let tree = try makeTree(directory, "tree")
            await expectRejection(ArchiveError.self, \.code, .invalidName) {
                try ArchiveWriter.pack(
                    directory: tree, prefix: prefix, format: .zip, to: directory.path("kit.zip"), modified: Self.time)
            }
        }
    }

    @Test(.smallDisk) func testThatItLeavesNothingWhereTheDiskIsFull() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let small = try directory.makeDirectory("small")
            try await SmallDisk.mounted(on: small) {
                let bytes = (0..<400_000).map { _ in UInt8.random(in: 0...255) }
                try directory.write("tree/large", bytes)

                // when
                let error = await expectRejection(ArchiveError.self, \.code, .file) {
                    try pack(Directory(opening: directory.path("tree")), .tarGzip, small + "/kit.tar.gz")
                }

                // then
                expectContains(error?.description ?? "", "the disk is full")
                expectNoFile(small + "/kit.tar.gz")
            }
        }
    }
}
