import Testing

@testable import Redaction

@Suite struct EscapingTests {
    private func read(_ text: String, _ escaping: Escaping) -> Escaping.Reading {
        Array(text.utf8).withUnsafeBytes { escaping.read($0) }
    }

    @Test func testThatItReadsWhatAnEscapeStandsForAndHowLongItIs() {
        #expect(read("%2Fx", .percent) == .byte(0x2F, width: 3))
        #expect(read("%c3", .form) == .byte(0xC3, width: 3))
        #expect(read("+", .form) == .byte(0x20, width: 1))
        #expect(read(#"\/"#, .backslash) == .byte(0x2F, width: 2))
        #expect(read(#"\u00e9"#, .backslash) == .scalar("é", width: 6))
        #expect(read(#"\uD83d\uDE00x"#, .backslash) == .scalar("😀", width: 12))
        #expect(read(#"\$"#, .backslash) == .byte(0x24, width: 2))
        #expect(read(#"\x2Fx"#, .backslash) == .byte(0x2F, width: 4))
        #expect(read(#"\xe9"#, .backslash) == .byte(0xE9, width: 4))
        #expect(read(#"\xe9"#, .character) == .scalar("é", width: 4))
        #expect(read(#"\0471"#, .backslash) == .byte(0x27, width: 4))
        #expect(read(#"\x{1f600}"#, .backslash) == .scalar("😀", width: 9))
        #expect(read(#"\u{E9}x"#, .backslash) == .scalar("é", width: 6))
        #expect(read(#"\U0001f600"#, .backslash) == .scalar("😀", width: 10))
        #expect(read(#"'\''"#, .shell) == .byte(0x27, width: 3))
        #expect(read(#"'\!'"#, .shell) == .byte(0x21, width: 3))
        #expect(read(#"'"''"'"#, .shell) == .quotes(count: 2, width: 5))
        #expect(read(#""'"'"#, .shell) == .quotes(count: 1, width: 3))
        #expect(read(#"'"'\"#, .shell) == .literal(count: 2))
        #expect(read("''", .doubledQuote) == .byte(0x27, width: 2))
        #expect(read("`$", .backtick) == .byte(0x24, width: 2))
        #expect(read("&apos;", .xml) == .byte(0x27, width: 6))
        #expect(read("&#0233;", .xml) == .scalar("é", width: 7))
        #expect(read("&#X1f600;", .xml) == .scalar("😀", width: 9))
    }

    @Test(arguments: [
        ("%2F", Escaping.percent), (#"\u00e9"#, .backslash), (#"\ud83d\ude00"#, .backslash), (#"\n"#, .backslash),
        ("&quot;", .xml),
        ("&#x1F600;", .xml), (#"\x2f"#, .backslash), (#"\x{2f}"#, .character), (#"\057"#, .backslash),
        (#"\u{2f}"#, .backslash),
        (#"\U0000002f"#, .backslash), (#"'\'"#, .shell), (#"'"''"#, .shell), (#""'""#, .shell), ("''", .doubledQuote),
        ("`\"", .backtick),
    ])
    func testThatEachBeginningOfAnEscapeWaitsForMore(text: String, escaping: Escaping) {
        for count in 1..<text.utf8.count { #expect(read(String(text.prefix(count)), escaping) == .more) }
    }

    @Test(arguments: [
        ("+", Escaping.percent), ("%g", .percent), ("%2x", .percent), (#"\q"#, .backslash), (#"\xg0"#, .backslash),
        (#"\x{}"#, .backslash), (#"\08"#, .backslash), (#"\400"#, .backslash),
        (#"\U00110000"#, .backslash), (#"\u{110000}"#, .backslash), (#"\u{12345678}"#, .backslash), (#"'it"#, .shell),
        (#"'\x"#, .shell), (#"'"x"#, .shell),
        (#"'"""#, .shell), (#""x"#, .shell), ("'x", .doubledQuote), ("`n", .backtick), ("$%", .doubledSign),
        (#"\u00g"#, .backslash),
        (#"\ud83dx"#, .backslash), (#"\ud83d\n"#, .backslash), (#"\ud83d\u0041"#, .backslash), (#"\udc00"#, .backslash),
        ("& ", .xml),
        ("&nbsp;", .xml), ("&#;", .xml), ("&#a;", .xml), ("&#xd800;", .xml), ("&#1114112", .xml),
        ("&#000000000043;", .xml),
    ])
    func testThatOtherTextIsNone(text: String, escaping: Escaping) {
        #expect(read(text, escaping) == .none)
    }

    @Test func testThatItNamesWhatEscapesOfAByteBeginWith() {
        for byte in UInt8.min...UInt8.max {
            let digits = (byte < 16 ? "0" : "") + String(byte, radix: 16)
            for text in ["%\(digits)", "%\(digits.uppercased())"] {
                let second = Array(text.utf8)[1]
                #expect(Escaping.percent.beginnings(of: byte).contains { $0 == (UInt8(ascii: "%"), second) })
            }
            #expect(Escaping.backslash.beginnings(of: byte).contains { $0 == (UInt8(ascii: "\\"), UInt8(ascii: "u")) })
            #expect(Escaping.xml.beginnings(of: byte).contains { $0 == (UInt8(ascii: "&"), UInt8(ascii: "#")) })
        }
        #expect(Escaping.form.beginnings(of: 0x20).contains { $0 == (UInt8(ascii: "+"), nil) })
        #expect(Escaping.backslash.beginnings(of: 0x09).contains { $0 == (UInt8(ascii: "\\"), UInt8(ascii: "t")) })
        #expect(Escaping.xml.beginnings(of: 0x3C).contains { $0 == (UInt8(ascii: "&"), UInt8(ascii: "l")) })
        for second in "xuU1'".utf8 {
            #expect(
                Escaping.backslash.beginnings(of: UInt8(ascii: "'") | 0).contains { $0.second == second }
                    == (second != UInt8(ascii: "1")))
        }
        #expect(Escaping.backslash.beginnings(of: UInt8(ascii: "H")).contains { $0.second == UInt8(ascii: "1") })
        #expect(Escaping.shell.beginnings(of: UInt8(ascii: "a")).isEmpty)
    }
}
