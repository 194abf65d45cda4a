import TestSupport
import Testing

@testable import Web

private func html(_ text: String) -> [String] { TerminalText.lines(of: Array(text.utf8)[...]).map(\.html) }

/// A log looks as in a terminal, and nothing of it has any other effect.
@Suite struct TerminalTextTests {
    @Test(.proves(.web, "16, 256 and true colors, bold, faint, italic, underline, reverse and strike are classes"))
    func testThatColorsAndAttributesBecomeClasses() {
        #expect(html("\u{1B}[31mred\u{1B}[0m plain") == ["<span class=\"f1\">red</span> plain"])
        #expect(html("\u{1B}[1;92mok\u{1B}[m") == ["<span class=\"f10 tb\">ok</span>"])
        // A color continues in the next line.
        #expect(html("\u{1B}[33ma\nb") == ["<span class=\"f3\">a</span>", "<span class=\"f3\">b</span>"])
        #expect(html("\u{1B}[2;3;4;9mx") == ["<span class=\"tf ti tu ts\">x</span>"])
        #expect(html("\u{1B}[1;2mx\u{1B}[22my") == ["<span class=\"tb tf\">x</span>y"])
    }

    @Test(.proves(.web, "16, 256 and true colors, bold, faint, italic, underline, reverse and strike are classes"))
    func testThatManyColorsBecomeTheNearestOfThePalette() {
        #expect(
            html("\u{1B}[38;5;208mx\u{1B}[38;2;255;95;1my") == [
                "<span class=\"f208\">x</span><span class=\"f202\">y</span>"
            ])
        // ISO 8613-6, with and without the space of the color.
        #expect(
            html("\u{1B}[38:5:208mx\u{1B}[38:2::255:95:1my\u{1B}[38:2:255:95:1mz") == [
                "<span class=\"f208\">x</span><span class=\"f202\">yz</span>"
            ])
        #expect(html("\u{1B}[38;2;100;100;101mx") == ["<span class=\"f241\">x</span>"])
        #expect(html("\u{1B}[38;5;300mx\u{1B}[38;2;1;2;300my") == ["xy"])
    }

    @Test(.proves(.web, "16, 256 and true colors, bold, faint, italic, underline, reverse and strike are classes"))
    func testThatABackgroundDecidesTheColorOfItsText() {
        #expect(html("\u{1B}[33;44mx") == ["<span class=\"b4\">x</span>"])
        #expect(
            html("\u{1B}[7mx\u{1B}[31my\u{1B}[27;39mz") == [
                "<span class=\"tr\">x</span><span class=\"b1\">y</span>z"
            ])
    }

    @Test(arguments: [
        ("\u{1B}]52;c;ZXZpbA==\u{1B}\\done", "done"), ("\u{1B}]0;title\u{07}a", "a"), ("\u{1B}P1$q\u{1B}\\b", "b"),
        ("\u{1B}[2J\u{1B}[Hhome", "home"), ("\u{1B}[8mhidden", "hidden"), ("\u{1B}cx", "x"), ("b\u{07}\u{00}", "b␇␀"),
        ("\u{9B}31mx", "\u{FFFD}31mx"), ("a\u{202E}b", "a[U+202E]b"), ("tab\there", "tab\there"),
        ("<script>alert('1')</script>&\"", "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;"),
    ])
    func testThatX3NothingElsePasses(text: String, expected: String) { #expect(html(text) == [expected]) }

    @Test func testThatInvalidBytesAreReplaced() {
        #expect(TerminalText.lines(of: [0x61, 0xFF, 0x62]).map(\.html) == ["a\u{FFFD}b"])
    }

    @Test func testThatLinesAreCounted() {
        #expect(html("") == [])
        #expect(html("\n") == [""])
        #expect(html("a\r\nb\n") == ["a", "b"])
        #expect(html("a\n\nb") == ["a", "", "b"])
    }

    @Test func testThatALongLineIsCutVisibly() {
        let line = html(String(repeating: "x", count: TerminalScreen.maximumColumns + 5))
        #expect(line.count == 1)
        #expect(line[0].hasSuffix(" <i>… 5 more characters in this line: see the raw log</i>"))
    }

    @Test func testThatX3AnEndlessSequenceHidesNothing() {
        let text = "\u{1B}]0;" + String(repeating: "x", count: 1000) + "SECRET"
        #expect(html(text)[0].contains("SECRET"))
        let link = "\u{1B}]8;;https://a.example/" + String(repeating: "x", count: 3000) + "SECRET"
        #expect(html(link)[0].contains("SECRET"))
    }

    /// Nine bytes that make 4,000 spaces, as often as a page has room.
    @Test func testThatX3MovesOfTheCursorMakeNoLargePage() {
        let lines = html(String(repeating: "\u{1B}[4000Cx\n", count: 10_000))
        #expect(lines.count == 10_000)
        #expect(lines.reduce(0) { $0 + $1.utf8.count } < TerminalScreen.maximumEdits + 20_000)
        let rows = html("a" + String(repeating: "\u{1B}[4000B", count: 10_000))
        #expect(rows.count <= TerminalScreen.maximumEdits + 1)
    }

    @Test func testThatEachColorCanBeReadInBothSchemes() throws {
        let sheet = String(decoding: TerminalPalette.styleSheet, as: UTF8.self)
        let style = String(decoding: Templates.styleSheet, as: UTF8.self)
        expectContains(style, "--card: #ffffff")
        expectContains(style, "--card: #1b1e22")
        let parts = sheet.pieces("@media (prefers-color-scheme:dark)")
        for (part, card) in zip(parts, [TerminalPalette.lightCard, TerminalPalette.darkCard]) {
            let found = part.matches(of: /\.f(\d+)\{color:#([0-9a-f]+)\}/)
            #expect(found.count == 240)
            for match in found {
                let color = Self.color(String(match.2))
                #expect(TerminalPalette.ratio(color, card) >= TerminalPalette.contrast, "\(match.0)")
            }
        }
        let behind = sheet.matches(of: /\.b(\d+)\{background:#([0-9a-f]+);color:#([0-9a-f]+)\}/)
        #expect(behind.count == 256)
        for match in behind {
            #expect(
                TerminalPalette.ratio(Self.color(String(match.2)), Self.color(String(match.3))) >= 4.5, "\(match.0)")
        }
    }

    private static func color(_ text: String) -> [Int] {
        let whole = text.count == 3 ? text.map { "\($0)\($0)" }.joined() : text
        return (0..<3).map { Int(whole.dropFirst($0 * 2).prefix(2), radix: 16) ?? -1 }
    }
}

/// Links of a log.
@Suite struct TerminalLinksTests {
    private func link(_ address: String, _ text: String? = nil) -> String {
        "<a href=\"\(address)\" title=\"\(address)\" rel=\"noopener nofollow noreferrer\">\(text ?? address)</a>"
    }

    @Test(.proves(.web, "OSC 8 links and plain http(s) addresses of a log are links"))
    func testThatLinksAndAddressesAreLinks() {
        #expect(
            html("see \u{1B}]8;id=1;https://a.example/x?y=1&z\u{1B}\\here\u{1B}]8;;\u{1B}\\.")
                == ["see \(link("https://a.example/x?y=1&amp;z", "here"))."])
        #expect(html("(https://a.example/b_(c)), done") == ["(\(link("https://a.example/b_(c)"))), done"])
        #expect(html("http://127.0.0.1:8080/.") == ["\(link("http://127.0.0.1:8080/"))."])
        // A color within an address does not end it.
        #expect(
            html("https://a.example/\u{1B}[31mred") == [
                link("https://a.example/red", "https://a.example/<span class=\"f1\">red</span>")
            ])
    }

    @Test(
        .proves(.web, "OSC 8 links and plain http(s) addresses of a log are links"),
        arguments: [
            "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//evil.example", "https://", "https:///x",
            "HTTPS ://a", "https://a.example/\"onmouseover=x", "https://a.example/<svg>", "https://a.example/ b",
            "https://\u{202E}a", "ftp://a.example",
        ])
    func testThatX3NoOtherAddressIsALink(address: String) {
        let text = html("\u{1B}]8;;\(address)\u{1B}\\click\u{1B}]8;;\u{1B}\\")
        #expect(text == ["click"])
    }

    @Test func testThatWordsAndMarkupAreNoPartOfAnAddress() {
        #expect(html("xhttps://a.example") == ["xhttps://a.example"])
        #expect(html("\"https://a.example\"<b>") == ["&quot;\(link("https://a.example"))&quot;&lt;b&gt;"])
        #expect(html("http://") == ["http://"])
    }
}

/// Cases of other renderers (buildkite/terminal-to-html, `terminal_test.go`), in our own words.
@Suite struct TerminalScreenTests {
    @Test(
        .proves(
            .web, "Carriage return, backspace and erase or cursor sequences within recent lines show the last state"),
        arguments: [
            ("€€€€€€\u{8}\u{8}\u{8}aaa", ["€€€aaa"]),
            ("he\u{1B}[32m\u{1B}[33m\u{8}llo", ["h<span class=\"f3\">llo</span>"]),
            ("hello\rb", ["bello"]), ("hi\u{8}\u{8}\u{8}\u{8}bye", ["bye"]),
            ("this is\u{1B}[4Cfar", ["this is    far"]),
            ("one \u{1B}[1Btwo", ["one", "    two"]),
            ("this is good\u{1B}[4Dbetter", ["this is better"]), ("good\u{1B}[100Dbetter", ["better"]),
            ("1234\n56\u{1B}[1A78\u{1B}[B", ["1278", "56"]),
            ("aaaa\nbbbb\ncccc\u{1B}[2A\u{1B}[1B\r1234\u{1B}[1B", ["aaaa", "1234", "cccc"]),
            ("hello\u{1B}[1Kfriend!", ["     friend!"]), ("hello friend\u{1B}[2K!", ["            !"]),
            ("hello\nfriend!\u{1B}[A\r\u{1B}[0K", ["", "friend!"]),
            ("hello friend\u{1B}[Ggoodbye buddy!", ["goodbye buddy!"]),
            ("foo\nbar\u{1B}[A\u{1B}[Jbaz", ["foobaz", ""]), ("foobar\u{1B}[0J", ["foobar"]),
            ("foo\nbar\nbaz\u{1B}[A\u{1B}[1Jqux", ["", "   qux", "baz"]), ("\u{1B}[1Jfoobar", ["foobar"]),
            ("objects:   0% (1/3342)\u{1B}[K\robjects:   1% (34/3342)", ["objects:   1% (34/3342)"]),
            ("meow\npurr\nnyan\u{1B}Mrawr", ["meow", "purrrawr", "nyan"]),
            ("line 1\nline 2\n\u{1B}[2;3Hm", ["line 1", "line 2", "  m"]),
            ("\u{1B}[30;42m\u{1B}[2KOK (244 tests)", ["<span class=\"b2\">OK (244 tests)</span>"]),
            ("\u{1B}[38;5;228;5;1mbold\u{1B}", ["<span class=\"f228 tb\">bold</span>"]),
            ("\u{1B}[?25lno cursor\u{1B}[?25h", ["no cursor"]), ("abc\u{1B}]9999\u{7}ghi", ["abcghi"]),
            ("hi\u{1B}]1337;File=name=MS5naWY=;inline=1:AA==\u{7}hello", ["hihello"]),
            ("\u{1B}[1mbegin\u{1B}[21m\r\nend", ["<span class=\"tb\">begin</span>", "end"]),
            ("ab\u{1B}7cd\u{1B}8X", ["abXd"]), ("abcdef\u{1B}[4D\u{1B}[2Px", ["abxf"]),
            ("abc\u{1B}[2D\u{1B}[1@x", ["axbc"]),
        ])
    func testThatTheLastStateIsShown(text: String, expected: [String]) { #expect(html(text) == expected) }

    /// Clearing the screen removes what other renderers show no longer. In a log it stays: a script that begins with `clear` would hide the build.
    @Test func testThatClearingTheScreenKeepsWhatWasPrinted() {
        #expect(html("compiled\n\u{1B}[3J\u{1B}[2J\u{1B}[Htested") == ["compiled", "tested"])
    }

    @Test(
        .proves(
            .web, "Carriage return, backspace and erase or cursor sequences within recent lines show the last state"))
    func testThatLinesOfLongAgoStay() {
        // given
        let before = (1...300).map { "line \($0)\n" }.joined()
        // when
        let lines = html(before + "\u{1B}[299A\u{1B}[2K\rnew")
        // then
        #expect(lines.count == 300)
        #expect(lines[0] == "line 1" && lines[199] == "line 200")
        #expect(lines[200] == "new")
    }

    @Test func testThatARewrittenLineKeepsItsNumber() {
        // given: a progress of two lines, printed three times
        let progress = "\u{1B}[2A\u{1B}[Ka\n\u{1B}[Kb\n"
        // when
        let lines = TerminalText.lines(of: Array(("start\na\nb\n" + progress + progress + "end\n").utf8)[...])
        // then
        #expect(lines.map(\.html) == ["start", "a", "b", "end"])
        #expect(lines.map(\.number) == [1, 2, 3, 8])
    }

    /// A progress that was redrawn more often than a page has lines: its lines began before the page.
    @Test func testThatALineOfTheLeadIsShownIfItWasRewritten() {
        // given
        let frames = (1...50).map { "\u{1B}[2A\u{1B}[Kone \($0)\n\u{1B}[Ktwo \($0)\n" }.joined()
        let bytes = Array(("start\none\ntwo\n" + frames).utf8)
        // when: the page begins with the last frame
        let lines = TerminalText.lines(of: bytes[...], firstLine: 102, lead: 101)
        // then
        #expect(lines == [.init(number: 2, html: "one 50"), .init(number: 3, html: "two 50")])
    }

    @Test func testThatTheLeadIsReadAndNotShown() {
        let bytes = Array("\u{1B}[31mred\nalso\n".utf8)
        #expect(
            TerminalText.lines(of: bytes[...], firstLine: 8, lead: 1) == [
                .init(number: 8, html: "<span class=\"f1\">also</span>")
            ])
    }
}
