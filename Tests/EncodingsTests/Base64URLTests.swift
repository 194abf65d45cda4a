import Encodings
import Foundation
import Testing

@Suite struct Base64URLTests {
    /// RFC 4648, section 10, without padding; and RFC 7515, appendix C.
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"),
    ]) func testThatTheVectorsOfTheStandardFit(_ text: String, _ encoded: String) {
        #expect(Base64URL.encode(Array(text.utf8)) == encoded)
        #expect(Base64URL.decode(encoded) == Array(text.utf8))
    }

    @Test func testThatEveryByteSurvives() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + count) }
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
        #expect(Base64URL.encode([3, 236, 255, 224, 193]) == "A-z_4ME")
    }

    @Test(arguments: ["Zg==", "Zg=", "Z", "Zm9v+", "Zm9/", "Zm 9", "Zm9v\n", "ä"])
    func testThatAnotherTextIsRefused(_ text: String) { #expect(Base64URL.decode(text) == nil) }
}
