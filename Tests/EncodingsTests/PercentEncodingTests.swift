import Encodings
import Testing

@Suite struct PercentEncodingTests {
    @Test(arguments: [
        ("aZ09-._~", "aZ09-._~"), ("a b/c", "a%20b%2Fc"), ("é", "%C3%A9"), ("a+b:c%", "a%2Bb%3Ac%25"),
        ("\t\u{7F}", "%09%7F"),
    ])
    func testThatATextIsOneSegment(text: String, encoded: String) {
        #expect(PercentEncoding.encode(text) == encoded)
        #expect(PercentEncoding.decode(encoded) == text)
        #expect(PercentEncoding.decodeLeniently(encoded) == text)
    }

    @Test func testThatAPathKeepsItsSlashes() {
        #expect(PercentEncoding.encode(path: "/a b//c:d/") == "/a%20b//c%3Ad/")
        #expect(PercentEncoding.encode("a@b/c d", keeping: "@/") == "a@b/c%20d")
    }

    @Test(arguments: ["%", "%4", "%zz", "%+1", "a%00", "%FF", "%C3"])
    func testThatItRefusesWhatIsNotEncoded(text: String) { #expect(PercentEncoding.decode(text) == nil) }

    @Test(arguments: [
        ("100%", "100%"), ("%zz%41", "%zzA"), ("%%41", "%A"), ("%4", "%4"), ("a%FFb", "a\u{FFFD}b"),
    ])
    func testThatACarelessTextIsDecodedAsFarAsItGoes(text: String, decoded: String) {
        #expect(PercentEncoding.decodeLeniently(text) == decoded)
    }
}
