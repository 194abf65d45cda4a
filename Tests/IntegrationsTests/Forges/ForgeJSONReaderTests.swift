import TestSupport
import Testing

@testable import Forges
@testable import Integrations

@Suite struct ForgeJSONReaderTests {
    private func read(_ text: String) throws -> ForgeJSON { try ForgeJSONReader.read(Array(text.utf8)) }

    @Test func testThatMembersOfAnyDepthAreRead() throws {
        let value = try read(
            #" {"ref":"a","commits":[{"id":"x","nested":[[{}]]}],"changes":[{"ref":null},true,7,1.5]} "#)
        #expect(value["ref"].text == "a")
        let changes = try #require(value["changes"].elements)
        #expect(changes[0]["ref"].isNull && changes[0]["missing"]["deeper"].isNull && !changes[1].isNull)
        #expect(changes.map(\.isTrue) == [false, true, false, false])
        #expect(changes.map(\.integer) == [nil, nil, 7, nil])
    }

    @Test(arguments: [
        (#""plain""#, "plain"), (#""é\u00e9\n\t\"\\\/""#, "éé\n\t\"\\/"), (#""\ud83d\ude00x""#, "😀x"),
        (#""\ud83dx""#, "\u{FFFD}x"), (#""\u0000""#, "\u{0}"), (#""""#, ""), (#""\b\f\r""#, "\u{8}\u{C}\r"),
    ])
    func testThatItDecodesStrings(json: String, text: String) throws { #expect(try read(json).text == text) }

    /// The kinds of JSONTestSuite (nst/JSONTestSuite): what begins with n_ there.
    private static let malformed = [
        "", " ", "[1 true]", "[a]", #"["": 1]"#, #"[""],"#, "[,1]", "[1,,2]", #"["x",,]"#, #"["x"]]"#, #"["","]"#,
        #"["x""#, "[x",
        "[3[4]]", "[1:2]", "[,]", "[-]", "[   , \"\"]", "[\"a\",\n4\n,1,", "[1,]", "[1,\n1\n,1", "[{}", "[fals]",
        "[nul]",
        "[tru]", "[++1234]", "[+1]", "[+Inf]", "[-01]", "[-1.0.]", "[-2.]", "[-NaN]", "[.-1]", "[.2e-3]", "[0.1.2]",
        "[0.3e+]",
        "[0.3e]", "[0.e1]", "[0E+]", "[0E]", "[1.0e+]", "[1.0e-]", "[1.0e]", "[1 000.0]", "[1eE2]", "[2.e+3]",
        "[2.e-3]",
        "[2.e3]", "[9.e+]", "[Inf]", "[NaN]", "[\u{FF11}]", "[1+2]", "[0x1]", "[0x42]", "[Infinity]", "[0e+-1]",
        "[-123.123foo]",
        "[123\u{0}]", "[-Infinity]", "[-foo]", "[- 1]", "[-012]", "[-.123]", "[-1x]", "[1ea]", "[1.]", "[.123]",
        "[1.2a-3]",
        "[1.8011670033376514H-308]", "[012]", #"["x", truth]"#, "{[: \"x\"}\n", #"{"x", null}"#, #"{"x"::"b"}"#, "{🇨🇭}",
        #"{"a":"a" 123}"#, "{key: 'value'}", #"{"a" b}"#, #"{:"b"}"#, #"{"a" "b"}"#, #"{"a":"#, #"{"a""#, "{1:1}",
        "{9999E9999:1}", "{null:null,null:null}", #"{"id":0,,,,,}"#, "{'a':0}", #"{"id":0,}"#, #"{"a":"b"}/**/"#,
        #"{"a":"b"}/"#, #"{"a":"b",,"c":"d"}"#, "{a: \"b\"}", #"{"a":"a"#, #"{ "foo" : "bar", "a" }"#, #"{"a":"b"}#"#,
        #"["\uD800\"]"#, #"["\uD800\u"]"#, #"["\uD800\u1"]"#, #"["\uD800\u1x"]"#, "[é]", #"["\x00"]"#, #"["\\\"]"#,
        "[\"\\\t\"]", #"["\🌀"]"#, #"["\"]"#, #"["\u00A"]"#, #"["\uD834\uDd"]"#, #"["\uD800\uD800\x"]"#, #"["\a"]"#,
        #"["\uqqqq"]"#, "[\u{20}\u{A0}]", #"[\u0020"asd"]"#, "[\\n]", "\"", "['single quote']", "abc", #"["\"#,
        "[\"a\u{0}a\"]", "[\"new\nline\"]", "[\"\t\"]", "\"\\UA66D\"", "\"\"x", "<.>", "[<null>]", "[1]x", "[1]]",
        "[\"asd]", "aå",
        "[True]", "1]", #"{"x": true,"#, "[][]", "]", "\u{FEFF}", "\u{FEFF}{", "[", #"{"":"#, "2@", "{}}",
        #"{"a": true} "x""#,
        "[\u{C}]", #"["a"#, "{", "{]", "{,", "{[", "{\"a", "{'a'", "[1", "[ false, nul", "[ true, fals", "[ false, tru",
        #"{"asd":"asd""#, "\u{E5}", "\u{2060}", "[\u{2060}]", "*", #"{"a":"b"}#{}"#, "[\"\"", "tru", "nul",
    ]

    @Test(.proves(.intake, "Bodies with each leaf replaced, removed, doubled or huge end nothing"))
    func testW13ThatMalformedJSONIsRefused() throws {
        for text in Self.malformed {
            #expect(throws: ForgeError.self, "\(text.debugDescription)") { _ = try read(text) }
        }
        // Deeper than anything sends.
        for text in [String(repeating: "[", count: 100_000), String(repeating: #"[{"":"#, count: 50_000)] {
            #expect(throws: ForgeError.self) { _ = try read(text) }
        }
    }

    @Test func testW13ThatWellFormedJSONIsTaken() throws {
        for text in [
            "[[]   ]", #"[""]"#, "[]", #"["a"]"#, "[false]", #"[null, 1, "1", {}]"#, "[null]", "[1\n]", " [1]",
            "[1,null,null,null,2]",
            "[2] ", "[123e65]", "[0e+1]", "[0e1]", "[ 4]", "[-0.000000000000000000000000000000000000001]", "[20e1]",
            "[-0]",
            "[-123]", "[-1]", "[1E22]", "[1E-2]", "[1E+2]", "[123e45]", "[123.456e78]", "[1e-2]", "[1e+2]",
            "[123.456789]", "[1e400]",
            "[-1e999999999999]", "[99999999999999999999999999999]", #"{"asd":"sdf"}"#, #"{"a":"b","a":"c"}"#,
            #"{"":0}"#,
            #"{"foo\u0000bar": 42}"#, "{\n\"a\": \"b\"\n}", #"["\u0060\u012a\u12AB"]"#, #"["\uD801\udc37"]"#,
            #"["a/*b*/c/*d//e"]"#,
            #"["\\a"]"#, #"["\\n"]"#, "[\"\u{7F}\"]", #"["\uDBFF\uDFFF"]"#, #"["\uFFFF"]"#, "[\"\u{2028}\"]", "false",
            "42", "null",
            #""asd""#, "true", #""""#, "[\"a\"]\n", "[true]", " [] ", "\u{FEFF}{}", "\r\n{}\r\n",
        ] { #expect(throws: Never.self, "\(text.debugDescription)") { _ = try read(text) } }
    }

    @Test func testThatTheLastOfEqualKeysCounts() throws {
        #expect(try read(#"{"ref":"a","ref":{"ref":"b"},"ref":"c"}"#)["ref"].text == "c")
    }

    @Test func testThatALongTextIsNone() throws {
        let fits = String(repeating: "a", count: ForgeJSONReader.maximumStringBytes)
        #expect(try read("\"\(fits)\"").text == fits)
        #expect(try read("\"\(fits)a\"").text == nil)
    }

    /// A body of the largest size that is all values would otherwise take 16 times its size.
    @Test(.proves(.intake, "Bodies up to 26 MiB, over that 413; an event is a hint to scan, never the truth"))
    func testThatItTakesABoundedNumberOfValues() throws {
        // The array and the object that holds it are values, too.
        let many = Array(repeating: "1", count: ForgeJSONReader.maximumValues - 2).joined(separator: ",")
        #expect(throws: Never.self) { _ = try read(#"{"commits":[\#(many)]}"#) }
        let error = #expect(throws: ForgeError.self) { _ = try read(#"{"commits":[\#(many),1]}"#) }
        #expect(error?.code == .tooLarge)
    }

    @Test func testThatItTakesALevelBelowTheLimitAndNoneAbove() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(throws: Never.self) { _ = try read(nested(ForgeJSONReader.maximumDepth)) }
        #expect(throws: ForgeError.self) { _ = try read(nested(ForgeJSONReader.maximumDepth + 1)) }
    }
}
