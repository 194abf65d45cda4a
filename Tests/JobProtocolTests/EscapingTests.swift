import Testing

@testable import JobProtocol

@Suite struct EscapingTests {
    private func read(_ text: String, _ escaping: Escaping) -> Escaping.Reading {
        Array(text.utf8).withUnsafeBytes { escaping.read($0) }
    }

    @Test func testThatItReadsWhatAnEscapeStandsForAndHowLongItIs() {
        #expect(read("%2Fx", .percent) == .byte(0x2F, width: 3))
        #expect(read("%c3", .form) == .byte(0xC3, width: 3))
        #expect(read("+", .form) == .byte(0x20, width: 1))
        #expect(read(#"\/"#, .json) == .byte(0x2F, width: 2))
        #expect(read(#"\u00e9"#, .json) == .scalar("é", width: 6))
        #expect(read(#"\uD83d\uDE00x"#, .json) == .scalar("😀", width: 12))
        #expect(read("&apos;", .xml) == .byte(0x27, width: 6))
        #expect(read("&#0233;", .xml) == .scalar("é", width: 7))
        #expect(read("&#X1f600;", .xml) == .scalar("😀", width: 9))
    }

    @Test(arguments: [
        ("%2F", Escaping.percent), (#"\u00e9"#, .json), (#"\ud83d\ude00"#, .json), (#"\n"#, .json), ("&quot;", .xml),
        ("&#x1F600;", .xml),
    ])
    func testThatEachBeginningOfAnEscapeWaitsForMore(text: String, escaping: Escaping) {
        for count in 1..<text.utf8.count { #expect(read(String(text.prefix(count)), escaping) == .more) }
    }

    @Test(arguments: [
        ("+", Escaping.percent), ("%g", .percent), ("%2x", .percent), (#"\x"#, .json), (#"\u00g"#, .json),
        (#"\ud83dx"#, .json), (#"\ud83d\n"#, .json), (#"\ud83d\u0041"#, .json), (#"\udc00"#, .json), ("& ", .xml),
        ("&nbsp;", .xml), ("&#;", .xml), ("&#a;", .xml), ("&#xd800;", .xml), ("&#1114112", .xml),
        ("&#000000000043;", .xml),
    ])
    func testThatOtherTextIsNone(text: String, escaping: Escaping) {
        #expect(read(text, escaping) == .none)
    }

    @Test func testThatItNamesWhatEscapesOfAByteBeginWith() {
        for byte in UInt8.min...UInt8.max where Escaping.mayEscape(byte) {
            let digits = (byte < 16 ? "0" : "") + String(byte, radix: 16)
            for text in ["%\(digits)", "%\(digits.uppercased())"] {
                let second = Array(text.utf8)[1]
                #expect(Escaping.percent.beginnings(of: byte).contains { $0 == (UInt8(ascii: "%"), second) })
            }
            #expect(Escaping.json.beginnings(of: byte).contains { $0 == (UInt8(ascii: "\\"), UInt8(ascii: "u")) })
            #expect(Escaping.xml.beginnings(of: byte).contains { $0 == (UInt8(ascii: "&"), UInt8(ascii: "#")) })
        }
        #expect(Escaping.form.beginnings(of: 0x20).contains { $0 == (UInt8(ascii: "+"), nil) })
        #expect(Escaping.json.beginnings(of: 0x09).contains { $0 == (UInt8(ascii: "\\"), UInt8(ascii: "t")) })
        #expect(Escaping.xml.beginnings(of: 0x3C).contains { $0 == (UInt8(ascii: "&"), UInt8(ascii: "l")) })
        #expect(Escaping.percent.beginnings(of: UInt8(ascii: "a")).isEmpty)
    }
}
