import Archives
import Basics
import TestSupport
import Testing

@Suite struct ChecksumsTests {
    private static let digest = String(repeating: "0a", count: 32)

    @Test(.proves(.versions, "SHA-256, and `SHA256SUMS` as `sha256sum` reads it"))
    func testThatItWritesWhatSha256sumReads() async throws {
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
        }
    }

    @Test func testThatANameMayBeginWithAMark() async throws {
        try await withTemporaryDirectory { directory in
            // given: Swift treats the space and the mark after it as one character
            let sums = Checksums(["\u{301}a": Digest.sha256(of: Array("one".utf8))])
            try directory.write("\u{301}a", "one")
            try directory.write("SHA256SUMS", sums.bytes)

            // when, then
            try await runExpectingSuccess(["sha256sum", "-c", "--strict", "SHA256SUMS"], in: directory.path)
            #expect(Checksums(sums.bytes) == sums)
        }
    }

    @Test(arguments: ["../../etc/passwd", "/etc/passwd", ".hidden", ""])
    func testThatItFollowsNoNameOutOfTheDirectory(name: String) {
        #expect(Checksums(Array("\(Self.digest)  \(name)\n".utf8)) == nil)
    }
}
