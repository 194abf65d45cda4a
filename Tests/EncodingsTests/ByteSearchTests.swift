import Encodings
import TestSupport
import Testing

@Suite struct ByteSearchTests {
    private func first(_ word: String, in text: String, from start: Int = 0) -> Int? {
        Array(text.utf8).withUnsafeBytes { ByteSearch(word.utf8).first(in: $0, from: start) }
    }

    @Test func testThatTheFirstOccurrenceIsFound() {
        #expect(first("error:", in: "no error, error: two error:") == 10)
        #expect(first("error:", in: "no error, error: two error:", from: 11) == 21)
        #expect(first("aab", in: "aaaaab") == 3)
        #expect(first("x", in: "abcx") == 3)
        #expect(first("abc", in: "abc") == 0)
    }

    @Test func testThatNothingIsFoundBeyondTheEnd() {
        #expect(first("abc", in: "ab") == nil)
        #expect(first("", in: "ab") == nil)
        #expect(first("b", in: "ab", from: 2) == nil)
        #expect(first("b", in: "ab", from: -1) == nil)
        #expect(first("bc", in: "ab c") == nil)
    }
}
