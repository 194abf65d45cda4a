import Model
import TestSupport
import Testing

/// Foreign text that is made to fit into one line.
@Suite struct OneLineTests {
    /// Characters that a terminal obeys, that end a line, that change the order of others, or that are invisible.
    static let hidden: [(name: String, scalars: [Unicode.Scalar])] = [
        ("C0", (0..<0x20).compactMap(Unicode.Scalar.init)), ("DEL", ["\u{7F}"]),
        ("C1", (0x80..<0xA0).compactMap(Unicode.Scalar.init)),
        ("embeddings and overrides", (0x202A...0x202E).compactMap(Unicode.Scalar.init)),
        ("isolates", (0x2066...0x2069).compactMap(Unicode.Scalar.init)),
        ("marks of direction", ["\u{200E}", "\u{200F}", "\u{061C}"]),
        ("separators", ["\u{2028}", "\u{2029}"]),
        ("of no width", ["\u{200B}", "\u{2060}", "\u{2061}", "\u{2064}", "\u{FEFF}", "\u{AD}", "\u{180E}"]),
        ("annotations and tags", ["\u{FFF9}", "\u{FFFB}", "\u{E0001}", "\u{E0041}", "\u{E007F}"]),
        ("deprecated ones", ["\u{206A}", "\u{206F}"]),
    ]

    @Test(
        .proves(
            .jobs,
            "Names and messages of others stay on one line and in order in commands' output, the daemon's log and messages"
        ), arguments: hidden)
    func testThatEachIsReplaced(_ name: String, _ scalars: [Unicode.Scalar]) {
        for scalar in scalars {
            #expect("a\(scalar)b".inOneLine == "a\u{FFFD}b", "U+\(String(scalar.value, radix: 16))")
            #expect("a\(scalar)b".inOneBlankedLine == "a b", "U+\(String(scalar.value, radix: 16))")
            let isKept = scalar == "\n" || scalar == "\t"
            #expect("a\(scalar)b".inSafeLines == (isKept ? "a\(scalar)b" : "a\u{FFFD}b"))
        }
    }

    /// The two characters at the end of a Windows line are one `Character` in Swift.
    @Test func testThatALineEndOfTwoIsReplacedByTwo() {
        #expect("a\r\nb".inOneLine == "a\u{FFFD}\u{FFFD}b")
        #expect("a\r\nb".inSafeLines == "a\u{FFFD}\nb")
    }

    @Test(
        .proves(
            .jobs,
            "Names and messages of others stay on one line and in order in commands' output, the daemon's log and messages"
        ),
        arguments: [
            "", "plain", "größer", "e\u{301}", "日本語", "עברית", "العربية", "👩\u{200D}💻", "नमस्\u{200D}ते", "a\u{A0}b",
            "a\u{3000}b",
            "\u{FFFD}", "🇩🇪",
        ])
    func testThatWhatPeopleWriteStays(_ text: String) {
        #expect(text.inOneLine == text)
        #expect(text.inSafeLines == text)
    }

    @Test func testThatAForgedRowIsPartOfItsLine() {
        #expect("fixed\nkit#7  main  succeeded".inOneLine == "fixed\u{FFFD}kit#7  main  succeeded")
    }
}
