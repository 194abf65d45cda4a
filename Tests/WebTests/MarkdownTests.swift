import TestSupport
import Testing

@testable import Web

/// Markdown as the documentation's pages use it, and what its text must never become.
@Suite struct MarkdownTests {
    private func html(_ source: String) -> String {
        Markdown(source) { $0.hasPrefix("https://") || $0.hasPrefix("#") ? $0 : nil }.html
    }

    @Test(arguments: [
        ("# One `x`", "<h1 id=\"one-x\">One <code>x</code></h1>\n"),
        ("a\nb\n\nc", "<p>a\nb</p>\n<p>c</p>\n"),
        ("*em* **strong *both* x** a_b_c", "<p><em>em</em> <strong>strong <em>both</em> x</strong> a_b_c</p>\n"),
        ("`` a`b `` \\*no\\* 2 * 3", "<p><code>a`b</code> *no* 2 * 3</p>\n"),
        (
            "[a `b`](#c) <https://d.example>",
            "<p><a href=\"#c\">a <code>b</code></a> <a href=\"https://d.example\">https://d.example</a></p>\n"
        ),
        ("![a picture](images/a.png) b! [c]", "<p>a picture b! [c]</p>\n"),
        ("- a\n  b\n- c\n  - d", "<ul>\n<li>a\nb</li>\n<li>c<ul>\n<li>d</li>\n</ul>\n</li>\n</ul>\n"),
        ("1. a\n2. b", "<ol>\n<li>a</li>\n<li>b</li>\n</ol>\n"),
        ("- a\n\n  b\n\nc", "<ul>\n<li>a<p>b</p>\n</li>\n</ul>\n<p>c</p>\n"),
        ("```yaml\na: <b>\n  c\n```\nd", "<pre><code>a: &lt;b&gt;\n  c\n</code></pre>\n<p>d</p>\n"),
        ("> a\n> b", "<blockquote>\n<p>a\nb</p>\n</blockquote>\n"),
        ("<!-- generated: x -->\na\n<!-- end -->", "<p>a</p>\n"),
    ])
    func testThatAFormBecomesItsElement(source: String, expected: String) {
        #expect(html(source) == expected)
    }

    @Test func testThatATableHasItsCells() {
        // given
        let source = "| a | b |\n|---|---|\n| `x\\|y` | [z](no.md) |\n| only |\n| 1 | 2 | 3 |\nafter"
        // when, then
        #expect(
            html(source) == """
                <table class="list">
                <thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead>
                <tbody>
                <tr><td><code>x|y</code></td><td>z</td></tr>
                <tr><td>only</td><td></td></tr>
                <tr><td>1</td><td>2</td></tr>
                </tbody>
                </table>
                <p>after</p>

                """)
    }

    /// Without the elements that Markdown makes, no mark of HTML may be left.
    @Test(
        .proves(.testsAndPages, "Markdown never becomes markup of a page's own, a script or another scheme"),
        arguments: [
            "<script>alert(1)</script>", "# <img src=x onerror=alert(1)>", "- <b>\n  - \"'<>&", "`<i>` ``<i>``",
            "```\n</code></pre><b>\n```",
            "| <b> | \" |\n|---|---|\n| <i> | ' |", "[<b>](https://a.example/\"onclick=\"x)",
            "<https://a.example/\"onclick=x>",
            "> <u>", "<!-- x --><b>\n<b>", "&lt;b&gt; &#60;b&#62;", "\"\u{301} onload=1 <\u{338}script>",
            "## \" onload=\"x",
            "**<b>** *<b>* [x](#\"><b>)",
        ])
    func testThatTextNeverBecomesMarkup(source: String) {
        // when
        let html = html(source)
        // then
        let tag =
            /<\/?(?:h[1-6]|p|ul|ol|li|pre|code|em|strong|blockquote|table|thead|tbody|tr|th|td|a)(?: (?:id|class|scope|href)="[^"<>]*")*>/
        let rest = html.replacing(tag, with: "")
        #expect(!rest.unicodeScalars.contains { "<>\"'".unicodeScalars.contains($0) }, "\(html)")
        #expect(!html.contains("&lt;b&gt;") || !source.contains("&lt;") || html.contains("&amp;lt;"))
    }

    @Test(
        .proves(.testsAndPages, "Markdown never becomes markup of a page's own, a script or another scheme"),
        arguments: [
            "[x](javascript:alert(1))", "[x](data:text/html,a)", "[x](//evil.example)", "[x](a b)", "[x]()", "[x]",
            "<javascript:alert(1)>",
        ])
    func testThatNoOtherSchemeIsALink(source: String) {
        #expect(!html(source).contains("<a"))
    }

    @Test func testThatControlAndReorderingCharactersAreVisible() {
        #expect(html("a\u{0}b\u{1B}c\u{202E}d\r\ne") == "<p>a\u{FFFD}b\u{FFFD}c[U+202E]d\ne</p>\n")
    }

    /// Each would take quadratic time or a deep stack if forms were searched for without bounds.
    @Test(
        .proves(.testsAndPages, "Markdown never becomes markup of a page's own, a script or another scheme"),
        arguments: [
            String(repeating: "[", count: 100_000), String(repeating: "**a ", count: 50_000),
            String(repeating: "`", count: 100_001),
            String(repeating: "[a](", count: 30_000), String(repeating: "> ", count: 20_000) + "x",
            (0..<200).map { String(repeating: "  ", count: $0) + "- x" }.joined(separator: "\n"),
            "- a" + String(repeating: "\n", count: 100_000) + "  b",
        ])
    func testThatHostileTextStaysText(source: String) {
        // when
        let markdown = Markdown(source) { _ in nil }
        // then
        #expect(markdown.html.components(of: "<blockquote>") <= 6)
        #expect(markdown.html.components(of: "<ul>") <= 6)
        #expect(!markdown.sections[0].text.isEmpty)
    }

    @Test func testThatSectionsHaveTheirTextAndTheirOwnAnchor() {
        // when
        let markdown = Markdown("before\n# Title\na **b**\n## Part: one?\n- c\n## Part: one?\n") { _ in nil }
        // then
        #expect(
            markdown.sections == [
                .init(level: 0, heading: "", anchor: "", text: "before\n"),
                .init(level: 1, heading: "Title", anchor: "title", text: "a b\n"),
                .init(level: 2, heading: "Part: one?", anchor: "part-one", text: "c\n"),
                .init(level: 2, heading: "Part: one?", anchor: "part-one-1", text: ""),
            ])
        #expect(markdown.title == "Title")
    }
}

extension String {
    /// The number of occurrences of a text.
    fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
