import Mustache
import Testing

@testable import Web

@Suite struct HTMLTextTests {
    private func render(_ text: String) throws -> String {
        try MustacheTemplate(string: "<i title=\"{{text}}\">").render(
            ViewObject(dictionaryLiteral: ("text", .text(text))))
    }

    @Test func testThatTextStaysText() throws {
        #expect(try render("\"><svg/onload=1>") == "<i title=\"&quot;&gt;&lt;svg/onload=1&gt;\">")
    }

    /// Mustache escapes by `Character`, and `"` with a combining mark is one `Character` that is not `"`.
    @Test(arguments: ["\"\u{301} onload=1 x=\"", "\u{600}\" onload=1", "<\u{338}script>", "'\u{20E3}", "&\u{200D}"])
    func testThatAJoinedMarkDoesNotHideAQuotationMark(text: String) throws {
        let html = try render(text).dropFirst("<i title=\"".count).dropLast("\">".count)
        #expect(!html.unicodeScalars.contains { "\"<>'".unicodeScalars.contains($0) })
    }

    @Test func testThatReorderingCharactersAreShown() {
        #expect(HTMLText.prepared("a\u{202E}b\u{2066}") == "a[U+202E]b[U+2066]")
        #expect(HTMLText.prepared("naïve 日本") == "naïve 日本")
    }
}
