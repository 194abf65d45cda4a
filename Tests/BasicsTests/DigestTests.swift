import Basics
import Encodings
import TestSupport
import Testing

@Suite struct DigestTests {
    @Test(.proves(.versions, "SHA-256, and `SHA256SUMS` as `sha256sum` reads it"))
    func testThatItHashesAsFIPS180Says() {
        // FIPS 180-4's example for "abc".
        #expect(
            Digest.sha256(of: Array("abc".utf8)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test func testThatItAuthenticatesAsRFC4231Says() {
        // RFC 4231 section 4.3.
        let code = Digest.hmacSHA256(
            key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8))
        #expect(
            Hexadecimal.encode(code) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    @Test(.program("sha256sum")) func testThatItHashesFilesLargerThanItsBuffer() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let bytes = (0..<700_001).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let path = try directory.write("large", bytes)

            // when
            let (digest, size) = try Digest.sha256(ofFile: path)

            // then
            let said = try await runExpectingSuccess(["sha256sum", path])
            #expect(said.hasPrefix(digest))
            #expect(size == 700_001)
        }
    }

    @Test func testThatItRefusesWhatIsNoRegularFile() async throws {
        try await withTemporaryDirectory { directory in
            _ = await expectRejection(FileError.self, \.code, .isDirectory) {
                try Digest.sha256(ofFile: directory.path)
            }
        }
    }
}
