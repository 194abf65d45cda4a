import Encodings
import Testing

@Suite struct Base64Tests {
    @Test(
        arguments: [("", []), ("QQ==", [0x41]), ("QUI=", [0x41, 0x42]), ("+/+/", [0xFB, 0xFF, 0xBF])]
            as [(String, [UInt8])])
    func testThatBase64IsRead(text: String, bytes: [UInt8]) { #expect(Base64.decode(text) == bytes) }

    @Test(arguments: ["Q", "QQ", "QQ=", "Q===", "QQ==QQ==", "Q Q=", "QQ=A", "é==="])
    func testThatWhatIsNoBase64IsRefused(text: String) { #expect(Base64.decode(text) == nil) }
}
