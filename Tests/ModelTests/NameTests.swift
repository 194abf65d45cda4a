import Foundation
import Model
import TestSupport
import Testing

@Suite struct NameTests {
    @Test(arguments: ["a", "0", "kit", "swift-http-types", "a.b_c-d", "9lives", String(repeating: "a", count: 64)])
    func testThatItAccepts(_ text: String) { #expect(Name(text)?.description == text) }

    @Test(
        .proves(.model, "Terms as values: names, refs, commits, versions, times, sizes"),
        arguments: [
            "", ".", "..", ".a", "-a", "_a", "A", "a/b", "a b", "a\n", "ä", "a\0", "a\u{301}", "Ｋ",
            String(repeating: "a", count: 65),
        ])
    func testThatItRefuses(_ text: String) { #expect(Name(text) == nil) }

    @Test(arguments: [
        ("Rainbow", "rainbow"), ("My App", "my-app"), ("..//x", "x"), ("a---", "a"), ("", "unnamed"),
        ("ÄÖÜ", "unnamed"),
        ("kit.git", "kit.git"), (String(repeating: "a", count: 63) + "-b", String(repeating: "a", count: 63)),
    ])
    func testThatTheNearestNameIsAlwaysOne(text: String, expected: String) {
        #expect(Name(nearest: text).description == expected)
        #expect(Name(Name(nearest: text).description) != nil)
    }

    @Test func testThatADecodedNameIsChecked() throws {
        #expect(try JSONDecoder().decode(Name.self, from: Data(#""kit""#.utf8)).description == "kit")
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Name.self, from: Data(#""../x""#.utf8)) }
    }
}

@Suite struct IntegrationIDTests {
    @Test func testThatItIsReadAsPrinted() throws {
        let id = try #require(IntegrationID("kit#41"))
        #expect(id.description == "kit#41")
        #expect(id.number == 41)
    }

    @Test(arguments: [
        "kit", "kit#", "kit#0", "kit#-1", "kit#1#2", "#1", "Kit#1", "kit#1x", "kit# 1", "kit#99999999999999999999",
        "kit#+1", "kit#01",
    ])
    func testThatItRefuses(_ text: String) { #expect(IntegrationID(text) == nil) }

    @Test func testThatItIsOrderedByNumber() throws {
        let ids = ["kit#10", "kit#9", "app#11"].compactMap { IntegrationID($0) }
        #expect(ids.sorted().map(\.description) == ["app#11", "kit#9", "kit#10"])
    }
}

@Suite struct CommitIDTests {
    @Test func testThatOnlyFullLowerCaseIdsAreOne() {
        let id = String(repeating: "0123456789abcdef", count: 4)
        #expect(CommitID(id) != nil)
        #expect(CommitID(id.prefix(40))?.abbreviated == "0123456789ab")
        #expect(CommitID(id.prefix(40).uppercased()) == nil)
        #expect(CommitID(id.prefix(39)) == nil)
        #expect(CommitID(String(id.prefix(39)) + "g") == nil)
        #expect(CommitID(String(id.prefix(38)) + "^0") == nil)
        #expect(CommitID(String(repeating: "0", count: 40))?.isZero == true)
    }
}
