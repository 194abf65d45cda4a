import JobProtocol
import Testing

@Suite struct JSONTests {
    @Test(arguments: [
        (#"{"a":[1,-2,0.5,true,false,null,"x"]}"#, #"{"a":[1,-2,0.5,true,false,null,"x"]}"#),
        (" [ ] ", "[]"), (#""\u00e9\ud83d\ude00\n\/""#, #""é😀\n/""#), ("-9223372036854775808", "-9223372036854775808"),
        (#"{"b":1,"a":2}"#, #"{"a":2,"b":1}"#), ("1e3", "1000.0"),
    ])
    func testThatItReadsAndWrites(text: String, expected: String) throws {
        // given
        let value = try JSON(Array(text.utf8), limit: 1000)
        // when
        let written = value.bytes()
        // then
        #expect(String(decoding: written, as: UTF8.self) == expected)
        #expect(try JSON(written, limit: 1000) == value)
    }

    @Test(arguments: [
        "", "{", "[1,]", "{\"a\":1,}", "01", "+1", "1.", "1e", "nul", "'a'", "\"\u{1}\"", "\"\\x\"", "\"\\ud800\"",
        "{\"a\":1,\"a\":2}", "1 2", "[1 2]", "{1:2}", "\"", "\"\\u12", "1e999", "/*c*/1",
    ])
    func testThatItRefusesWhatIsNoJSON(text: String) {
        #expect(throws: JobProtocolError.self) { try JSON(Array(text.utf8), limit: 1000) }
    }

    @Test func testThatItRefusesInvalidUTF8() {
        #expect(throws: JobProtocolError.self) { try JSON([0x22, 0xFF, 0x22], limit: 10) }
    }

    @Test func testThatItKeepsItsLimits() {
        let deep = String(repeating: "[", count: 100_000)
        #expect { try JSON(Array(deep.utf8), limit: 1_000_000) } throws: {
            ($0 as? JobProtocolError)?.code == .overLimit
        }
        #expect { try JSON(Array("[1]".utf8), limit: 2) } throws: { ($0 as? JobProtocolError)?.code == .overLimit }
    }
}
