import Testing

@testable import Web

/// Only colors are kept.
@Suite struct TerminalTextTests {
    private func html(_ text: String) -> [String] { TerminalText.lines(of: Array(text.utf8)) }

    @Test func testThatColorsAndBoldSurvive() {
        #expect(html("\u{1B}[31mred\u{1B}[0m plain") == ["<span class=\"t1\">red</span> plain"])
        #expect(html("\u{1B}[1;92mok\u{1B}[m") == ["<span class=\"t2 tb\">ok</span>"])
        // A color continues in the next line.
        #expect(html("\u{1B}[33ma\nb") == ["<span class=\"t3\">a</span>", "<span class=\"t3\">b</span>"])
        // The parameters of 256 and of 16 million colors are not codes themselves.
        #expect(html("\u{1B}[38;5;31mx\u{1B}[38;2;1;31;1my") == ["xy"])
    }

    @Test(arguments: [
        ("\u{1B}]8;;https://evil.example\u{07}click\u{1B}]8;;\u{07}", "click"),
        ("\u{1B}]52;c;ZXZpbA==\u{1B}\\done", "done"), ("\u{1B}]0;title\u{07}a", "a"), ("\u{1B}P1$q\u{1B}\\b", "b"),
        ("\u{1B}[2J\u{1B}[Hhome", "home"), ("\u{1B}[8mhidden", "hidden"), ("\u{1B}cx", "x"),
        ("build failed\rbuild passed", "build failed␍build passed"), ("a\u{08}b\u{07}\u{00}", "a␈b␇␀"),
        ("\u{9B}31mx", "\u{FFFD}31mx"), ("a\u{202E}b", "a[U+202E]b"), ("tab\there", "tab\there"),
        ("<script>alert('1')</script>&\"", "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;"),
    ])
    func testThatNothingElseIsObeyed(text: String, expected: String) {
        #expect(html(text) == [expected])
    }

    @Test func testThatInvalidBytesAreReplaced() {
        #expect(TerminalText.lines(of: [0x61, 0xFF, 0x62]) == ["a\u{FFFD}b"])
    }

    @Test func testThatLinesAreCounted() {
        #expect(html("") == [])
        #expect(html("\n") == [""])
        #expect(html("a\r\nb\n") == ["a", "b"])
        #expect(html("a\n\nb") == ["a", "", "b"])
    }

    @Test func testThatALongLineIsCutVisibly() {
        let line = html(String(repeating: "x", count: TerminalText.maximumLineBytes + 5))
        #expect(line.count == 1)
        #expect(line[0].hasSuffix(" <i>… 5 more bytes in this line: see the raw log</i>"))
    }

    @Test func testThatAnEndlessSequenceHidesNothing() {
        let text = "\u{1B}]0;" + String(repeating: "x", count: 1000) + "SECRET"
        #expect(html(text)[0].contains("SECRET"))
    }
}
