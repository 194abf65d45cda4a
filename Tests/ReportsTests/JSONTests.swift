import TestSupport
import Testing

@testable import Reports

@Suite struct JSONTests {
    private func parse(_ text: String) throws -> JSON { try JSON.parse(text.utf8) }

    @Test func testThatValuesAreWhatTheyAre() throws {
        let value = try parse(#" {"a":[1,-2.5e1,true,false,null,"x\n\u00e4\ud83d\ude00\/"],"b":{"c":{}},"a2":1} "#)
        #expect(value["a"][0].int == 1)
        #expect(value["a"][1].double == -25)
        #expect(value["a"][2].bool == true)
        #expect(value["a"][3].bool == false)
        #expect(value["a"][4].isNothing)
        #expect(value["a"][5].string == "x\nä😀/")
        #expect(value["a"][6].isNothing)
        #expect(value["b"]["c"].isObject)
        #expect(value["b"]["d"]["e"].isNothing)
        #expect(value.keys.sorted() == ["a", "a2", "b"])
        #expect(value["a"].elements?.count == 6)
        #expect(value["a"].string == nil)
        #expect(value["a"][0].bool == nil)
        #expect(value["b"].elements == nil)
    }

    @Test(arguments: [
        "", " ", "{", "[", "[1", "[1,", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,}", "[1,]", "[,1]", "{,}", "01", "-",
        "1.",
        ".5", "1e", "+1", "tru", "nul", "True", "\"", "\"\\x\"", "\"\\u12\"", "\"\u{1}\"", "[1] 2", "{1:2}", "'a'",
        "[1 2]",
        "//", "NaN",
    ])
    func testThatWhatIsNoJSONIsRefusedWithItsLine(text: String) {
        let error = #expect(throws: JSON.Failure.self) { try parse("\n\n" + text) }
        #expect(error?.text.hasPrefix("no JSON: line 3: ") == true, "\(String(describing: error?.text))")
    }

    @Test func testThatDeepNestingIsRefused() throws {
        let deep = { (count: Int) in
            String(repeating: "[", count: count) + String(repeating: "]", count: count)
        }
        #expect(try parse(deep(JSON.maximumDepth)).elements?.count == 1)
        #expect(throws: JSON.Failure.self) { try parse(deep(JSON.maximumDepth + 1)) }
        #expect(throws: JSON.Failure.self) { try parse(String(repeating: "[{\"a\":", count: 500_000)) }
    }

    @Test(.threat("P8")) func testThatHalfASurrogatePairAndForeignBytesAreReplaced() throws {
        #expect(try parse(#""\ud83dx""#).string == "\u{FFFD}x")
        #expect(try JSON.parse([0x22, 0xFF, 0x22]).string == "\u{FFFD}")
    }

    @Test(arguments: [1, 100]) func testThatTheLastOfSeveralMembersCounts(others: Int) throws {
        let members = (0..<others).map { "\"k\($0)\":\($0)" } + ["\"a\":1", "\"\\u0061\":2"]
        #expect(try parse("{" + members.joined(separator: ",") + "}")["a"].int == 2)
    }

    @Test(arguments: [false, true]) func testThatItReadsUTF16(isBigEndian: Bool) throws {
        let units = Array("\u{FEFF}{\"a\":\"ä\"}".utf16)
        let bytes = units.flatMap { unit -> [UInt8] in
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
            return isBigEndian ? [high, low] : [low, high]
        }
        #expect(try JSON.parse(bytes)["a"].string == "ä")
    }

    @Test(
        arguments: [("", []), ("QQ==", [0x41]), ("QUI=", [0x41, 0x42]), ("+/+/", [0xFB, 0xFF, 0xBF])]
            as [(String, [UInt8])])
    func testThatBase64IsRead(text: String, bytes: [UInt8]) { #expect(Base64.decode(text) == bytes) }

    @Test(arguments: ["Q", "QQ", "QQ=", "Q===", "QQ==QQ==", "Q Q=", "QQ=A", "é==="])
    func testThatWhatIsNoBase64IsRefused(text: String) { #expect(Base64.decode(text) == nil) }
}
