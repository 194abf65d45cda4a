import Archives
import TestSupport
import Testing

@Suite struct ChecksumsTests {
    private static let digest = String(repeating: "0a", count: 32)

    @Test func testThatItWritesWhatSha256sumReads() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let content = ["b file.txt": "one", "a.txt": "two", "größe": "three"]
            for (name, text) in content { try directory.write(name, text) }
            let sums = Checksums(content.mapValues { Digest.sha256(of: Array($0.utf8)) })

            // when
            try directory.write("SHA256SUMS", sums.bytes)

            // then
            try await runExpectingSuccess(["sha256sum", "-c", "--strict", "SHA256SUMS"], in: directory.path)
            #expect(Checksums(sums.bytes) == sums)
            #expect(try Checksums.verify(directory.path) == [])
        }
    }

    @Test func testThatItFindsWhatDiffersIsMissingOrIsTooMuch() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let sums = Checksums(["changed": Self.digest, "missing": Self.digest])
            try directory.write("SHA256SUMS", sums.bytes)
            try directory.write("changed", "x")
            try directory.write("extra", "x")

            // when
            let problems = try Checksums.verify(directory.path)

            // then
            #expect(problems.count == 3)
            #expect(problems[0].hasPrefix("changed: differs"))
            #expect(problems[1] == "missing: missing")
            #expect(problems[2] == "extra: not in SHA256SUMS")
        }
    }

    @Test func testThatANameMayBeginWithAMark() async throws {
        try await withTemporaryDirectory { directory in
            // given: to Swift the space before it and the mark are one character
            let sums = Checksums(["\u{301}a": Digest.sha256(of: Array("one".utf8))])
            try directory.write("\u{301}a", "one")
            try directory.write("SHA256SUMS", sums.bytes)

            // when, then
            try await runExpectingSuccess(["sha256sum", "-c", "--strict", "SHA256SUMS"], in: directory.path)
            #expect(Checksums(sums.bytes) == sums)
            #expect(try Checksums.verify(directory.path) == [])
        }
    }

    @Test(arguments: ["../../etc/passwd", "/etc/passwd", ".hidden", ""])
    func testThatItFollowsNoNameOutOfTheDirectory(name: String) {
        #expect(Checksums(Array("\(Self.digest)  \(name)\n".utf8)) == nil)
    }

    @Test func testThatItSaysWhenThereIsNothingToCheck() async throws {
        try await withTemporaryDirectory { directory in
            _ = await expectRejection(ArchiveError.self, \.code, .notFound) { try Checksums.verify(directory.path) }
        }
    }
}
