import API
import Testing

@testable import Web

@Suite struct JSONWriterTests {
    private struct Values: Encodable {
        var text: String?
        var number: Int64?
        var share: Double?
        var isSet: Bool?
        var names: [String]?
    }

    @Test func testThatAPropertyThatIsNilIsWrittenAsNull() throws {
        #expect(
            try JSONWriter.text(of: Values())
                == #"{"text":null,"number":null,"share":null,"isSet":null,"names":null}"#)
    }

    @Test func testThatMembersKeepTheOrderOfTheProperties() throws {
        // given
        let values = Values(text: "a", number: .max, share: 0.1234, isSet: false, names: ["b", "c"])
        // then
        #expect(
            try JSONWriter.text(of: values)
                == #"{"text":"a","number":9223372036854775807,"share":0.123,"isSet":false,"names":["b","c"]}"#)
    }

    @Test func testThatNamesKeepTheirOrder() throws {
        let outcomes = API.ByName<String?>([("release", "failed"), ("debug", nil)])
        #expect(try JSONWriter.text(of: outcomes) == #"{"release":"failed","debug":null}"#)
    }

    @Test func testThatTheMembersOfAnotherValueAreItsOwn() throws {
        // given
        let silence = API.Silence(reason: "r", person: "p", at: API.Time("t"), expires: nil, expired: false)
        // when
        let text = try JSONWriter.text(of: API.SilencedIssue(fingerprint: "f", silence: silence, issue: nil))
        // then
        #expect(
            text
                == #"{"fingerprint":"f","reason":"r","person":"p","at":"t","expires":null,"expired":false,"issue":null}"#
        )
    }

    @Test func testThatEmptyAndNestedValuesAreClosed() throws {
        #expect(try JSONWriter.text(of: API.Change()) == "{}")
        #expect(try JSONWriter.text(of: [[1, 2], []]) == "[[1,2],[]]")
        #expect(try JSONWriter.text(of: [API.Change(), API.Change()]) == "[{},{}]")
        #expect(try JSONWriter.text(of: API.List<API.TestCase>([])) == #"{"items":[],"next":null}"#)
    }

    @Test(arguments: [
        ("plain", #""plain""#), ("a\"b\\c", #""a\"b\\c""#), ("a\nb\tc\rd", #""a\nb\tc\rd""#),
        ("<a>&", #""\u003ca\u003e\u0026""#), ("é", #""é""#), ("\u{202E}", #""\u202e""#),
        ("\u{7F}\u{1}", #""\u007f\u0001""#),
    ])
    func testThatTextIsEscaped(_ text: String, _ expected: String) throws {
        #expect(try JSONWriter.text(of: text) == expected)
        #expect(JSONValue.string(text).text == expected)
    }

    @Test func testThatAPieceOfALogHasOneKindOfContent() throws {
        let text = API.LogPiece(offset: 1, size: 2, text: "ab", base64: nil)
        let bytes = API.LogPiece(offset: 1, size: 1, text: nil, base64: "/w==")
        #expect(try JSONWriter.text(of: text) == #"{"offset":1,"size":2,"text":"ab"}"#)
        #expect(try JSONWriter.text(of: bytes) == #"{"offset":1,"size":1,"base64":"/w=="}"#)
    }
}
