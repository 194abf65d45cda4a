import Encodings
import Testing

@Suite struct HexadecimalTests {
    @Test(arguments: [([], ""), ([0x00, 0x0F, 0xF0, 0xFF], "000ff0ff")] as [([UInt8], String)])
    func testThatItGoesBothWays(bytes: [UInt8], text: String) {
        #expect(Hexadecimal.encode(bytes) == text)
        #expect(Hexadecimal.decode(text) == bytes)
        #expect(Hexadecimal.decode(text.uppercased()) == bytes)
    }

    @Test(arguments: ["0", "0g", "0x00", " 00", "００", "+1"])
    func testThatItRefusesWhatIsNotHexadecimal(_ text: String) { #expect(Hexadecimal.decode(text) == nil) }
}
