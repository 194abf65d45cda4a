import Encodings
import TestSupport
import Testing

@Suite struct JSONTests {
    private func parse(_ text: String) throws -> JSON { try JSON.parse(text.utf8) }

    @Test func testThatValuesAreWhatTheyAre() throws {
        let value = try parse(#" {"a":[1,-2.5e1,true,false,null,"x\n\u00e4\ud83d\ude00\/"],"b":{"c":{}},"a2":1} "#)
        #expect(value["a"][0].number == "1")
        #expect(value["a"][1].number == "-2.5e1")
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

    @Test func testThatEscapesOfEveryKindAreDecoded() throws {
        // given: pairs of surrogates, one alone before a pair, escapes of one character, and text between them
        let text = #""\ud83d\ude00a\ud83d\ud83d\ude00\n\t\"\\\/\b\f\r\u00e4ö\udE00""#
        // then
        #expect(try parse(text).string == "😀a\u{FFFD}😀\n\t\"\\/\u{8}\u{C}\räö\u{FFFD}")
    }

    /// A long key is not decoded for each question.
    @Test func testThatAnEscapedKeyIsFoundByItsText() throws {
        let value = try parse(#"{"\u0072\u0065\u0066":"x","\u0072":"y","\n\n\n\n\n\n\n\n":"z"}"#)
        #expect(value["ref"].string == "x")
        #expect(value["r"].string == "y")
        #expect(value[String(repeating: "\n", count: 8)].string == "z")
        #expect(value["n"].isNothing)
    }

    @Test(arguments: [1, 100]) func testThatTheLastOfSeveralMembersCounts(others: Int) throws {
        let members = (0..<others).map { "\"k\($0)\":\($0)" } + ["\"a\":1", "\"\\u0061\":2"]
        #expect(try parse("{" + members.joined(separator: ",") + "}")["a"].number == "2")
    }

    @Test(arguments: [false, true]) func testThatItReadsUTF16(isBigEndian: Bool) throws {
        let units = Array("\u{FEFF}{\"a\":\"ä\"}".utf16)
        let bytes = units.flatMap { unit -> [UInt8] in
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
            return isBigEndian ? [high, low] : [low, high]
        }
        #expect(try JSON.parse(bytes)["a"].string == "ä")
    }

    @Test func testThatAContentKeepsWhatAStrictReaderRefuses() throws {
        let text = #"{"a":1,"\u0061":2,"b":"\ud83d","c":[null,true,-1.50]}"#
        guard case .object(let members) = try parse(text).content else { throw JSONTestError() }
        #expect(members.map(\.key) == ["a", "a", "b", "c"])
        guard case .string(nil) = members[2].value.content else { throw JSONTestError() }
        guard case .array(let elements) = members[3].value.content, case .null = elements[0].content,
            case .bool(true) = elements[1].content, case .number("-1.50") = elements[2].content
        else { throw JSONTestError() }
        guard case .string(nil) = try JSON.parse([0x22, 0xFF, 0x22]).content else { throw JSONTestError() }
        guard case .string("\u{1F600}/x") = try parse(#""\ud83d\ude00\/x""#).content else { throw JSONTestError() }
    }

    @Test func testThatALimitedStringIsMeasuredBeforeUnescaping() throws {
        #expect(try parse(#""\u0061""#).string(limit: 5) == nil)
        #expect(try parse(#""\u0061""#).string(limit: 6) == "a")
    }

    @Test func testThatTheNumberOfValuesIsLimited() throws {
        #expect(try JSON.parse(Array("[1,2]".utf8), values: 3).elements?.count == 2)
        let error = #expect(throws: JSON.Failure.self) { try JSON.parse(Array("[1,2]".utf8), values: 2) }
        #expect(error?.code == .tooManyValues)
    }
}

private struct JSONTestError: Error {}
