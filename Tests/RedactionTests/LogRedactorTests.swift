import TestSupport
import Testing

@testable import Redaction

@Suite struct LogRedactorTests {
    private static let secret = "s3cr3t/Pass word\"é"

    private func redact(_ text: [UInt8], secrets: [String] = [secret], chunk: Int = .max) -> String {
        var redactor = LogRedactor(secrets: secrets)
        var output: [UInt8] = []
        var position = 0
        while position < text.count {
            let end = min(text.count, chunk == .max ? text.count : position + chunk)
            output += redactor.redact(text[position..<end])
            position = end
        }
        return String(decoding: output + redactor.finish(), as: UTF8.self)
    }

    @Test(
        .proves(
            .jobs,
            "Secrets are masked in the log: as they are, as base64 and hexadecimal, wrapped, colored, cut anywhere"),
        arguments: 1...25)
    func testThatItMasksHoweverTheStreamIsCut(chunk: Int) {
        let text = Array("before \(Self.secret) after s3cr3t/Pas end\n".utf8)
        #expect(redact(text, chunk: chunk) == "before *** after s3cr3t/Pas end\n")
    }

    @Test(
        .proves(
            .jobs,
            "Secrets are masked in the log: as they are, as base64 and hexadecimal, wrapped, colored, cut anywhere"),
        arguments: [
            "czNjcjN0L1Bhc3Mgd29yZCLDqQ==", "eHMzY3IzdC9QYXNzIHdvcmQiw6k=", "eHhzM2NyM3QvUGFzcyB3b3JkIsOp",
            "733363723374", "s3cr3t%2FPass%20word%22%C3%A9", "s3cr3t%2fPass+word%22%c3%a9", #"s3cr3t/Pass word\"é"#,
            #"s3cr3t\/Pass word\"é"#,
        ])
    func testThatItMasksEveryEncoding(encoded: String) {
        // given: of the hexadecimal form only the beginning
        let text = encoded == "733363723374" ? "7333637233742f5061737320776f726422c3a9" : encoded
        // when
        let shown = redact(Array("<\(text)>".utf8))
        // then: of Base64 only the digits that depend on neighbors are left
        #expect(shown.contains("***"))
        #expect(shown.count <= 12, "\(shown)")
    }

    @Test(
        .proves(
            .jobs,
            "Secrets masked in the reports of steps, also as XML escapes them; products stay as they were made (S1)"),
        arguments: [
            "a&amp;b&lt;c&gt;d\"e'f\u{E9}", "a&amp;b&lt;c>d\"e'f\u{E9}", "a&amp;b&lt;c&gt;d&quot;e'f\u{E9}",
            "a&amp;b&lt;c>d&quot;e'f\u{E9}", "a&amp;b&lt;c&gt;d&quot;e&apos;f\u{E9}",
            "a&amp;b&lt;c&gt;d&quot;e&#39;f\u{E9}",
            "a&amp;b&lt;c&gt;d&quot;e&#x27;f\u{E9}", "a&amp;b&lt;c&gt;d&#34;e&#39;f\u{E9}",
            "a&amp;b&lt;c&gt;d&quot;e'f&#233;", "a&amp;b&lt;c&gt;d\"e'f&#233;",
        ])
    func testThatItMasksWhatWritersOfXMLMakeOfIt(escaped: String) {
        #expect(redact(Array("<a>\(escaped)</a>".utf8), secrets: ["a&b<c>d\"e'f\u{E9}"]) == "<a>***</a>")
    }

    @Test func testThatWhatIsNoTextKeepsItsLengthAndNULsWithinCountForNothing() {
        // given
        var redactor = LogRedactor(secrets: ["s3cret"]).forBinary
        // when
        let shown =
            redactor.redact(Array("\u{0}s3cret\u{1}s\u{0}3\u{0}c\u{0}r\u{0}e\u{0}t\u{0}".utf8)) + redactor.finish()
        // then
        #expect(shown == Array("\u{0}******\u{1}***********\u{0}".utf8))
        #expect(redactor.hasMasked)
    }

    @Test func testThatItMasksEachLineOfALongSecretAndNoShortOne() {
        let key = "-----BEGIN KEY-----\nAAAABBBBCCCC\nDDDDEEEEFFFF\nxy\n"
        #expect(redact(Array("a AAAABBBBCCCC b xy\n".utf8), secrets: [key]) == "a *** b xy\n")
        #expect(
            redact(Array("[\(key)]".utf8), secrets: [key]) == "[***\n]"
                || redact(Array("[\(key)]".utf8), secrets: [key]) == "[***]")
    }

    @Test func testThatItMasksWrappedAndColoredSecrets() {
        #expect(redact(Array("a s3cr3t/Pa\nss word\"é b".utf8)) == "a *** b")
        #expect(redact(Array("a s3cr3t\u{1B}[31m/Pass wo\u{1B}[0mrd\"é b".utf8)) == "a *** b")
        // The bytes that `tput sgr0` prints.
        #expect(redact(Array("a s3cr3t\u{1B}(B\u{1B}[m/Pass word\"é b".utf8)) == "a *** b")
    }

    @Test func testThatALongerSecretIsMaskedWhole() {
        #expect(redact(Array("x abcdefghij y abcd z".utf8), secrets: ["abcd", "abcdefghij"]) == "x *** y *** z")
        #expect(redact(Array("x cdef abcdeX".utf8), secrets: ["abcdY", "cde"]) == "x ***f ab***X")
    }

    @Test func testThatItHoldsBackOnlyWhatCanBecomeASecret() {
        // given
        var redactor = LogRedactor(secrets: [Self.secret])
        // when
        let shown = redactor.redact(Array("line\ns3cr".utf8))
        // then
        #expect(String(decoding: shown, as: UTF8.self) == "line\n")
        #expect(String(decoding: redactor.redact(Array("et\n".utf8)), as: UTF8.self) == "s3cret\n")
    }

    @Test func testThatManyLineEndsWithinAPossibleSecretAreNotHeldForEver() {
        var redactor = LogRedactor(secrets: [Self.secret])
        let shown = redactor.redact(Array("s".utf8) + [UInt8](repeating: 0x0A, count: 100_000))
        // 64 in a row are not part of a secret, and so neither is the first of them.
        #expect(shown.count == 100_001)
        #expect(redactor.held.storedCount == 0)
    }

    @Test func testThatItPassesOtherBytesAsTheyAre() {
        let bytes: [UInt8] = [0, 0xFF, 0xC3, 0x28, 0x0D, 0x1B, 0x5B]
        var redactor = LogRedactor(secrets: [Self.secret])
        #expect(redactor.redact(bytes) + redactor.finish() == bytes)
        var idle = LogRedactor(secrets: [])
        #expect(idle.redact(bytes) + idle.finish() == bytes)
    }

    /// Masks each form at each place: the reference for the automaton and its tables.
    private static func masked(_ text: [UInt8], forms: Set<[UInt8]>) -> [UInt8] {
        var isMasked = [Bool](repeating: false, count: text.count)
        for form in forms where form.count <= text.count {
            for start in 0...(text.count - form.count) where text[start..<start + form.count].elementsEqual(form) {
                for index in start..<start + form.count { isMasked[index] = true }
            }
        }
        var shown: [UInt8] = []
        for (index, byte) in text.enumerated() {
            if !isMasked[index] {
                shown.append(byte)
            } else if index == 0 || !isMasked[index - 1] {
                shown += "***".utf8
            }
        }
        return shown
    }

    @Test(
        .proves(
            .jobs,
            "Secrets are masked in the log: as they are, as base64 and hexadecimal, wrapped, colored, cut anywhere"),
        arguments: 0..<20)
    func testThatItMasksWhatASearchForEveryFormFinds(seed: Int) {
        // given: secrets that overlap each other and themselves
        var numbers = Numbers(state: UInt64(seed) &* 7919)
        for _ in 0..<200 {
            let secrets = (0..<numbers.upTo(3)).map { _ in
                String(decoding: (0..<numbers.upTo(7)).map { _ in UInt8(0x61 + numbers.upTo(2)) }, as: UTF8.self)
            }
            let forms = secrets.reduce(into: Set<[UInt8]>()) { $0.formUnion(SecretForms.all(of: $1)) }
            let text = (0..<numbers.upTo(70)).map { _ in UInt8(0x60 + numbers.upTo(4)) }
            // when
            let shown = redact(text, secrets: secrets, chunk: numbers.upTo(20))
            // then
            #expect(Array(shown.utf8) == Self.masked(text, forms: forms), "\(secrets) in \(text)")
        }
    }

    @Test func testThatAStreamThatAlwaysMayBeginASecretIsNotKept() {
        // given: after each byte there is a byte to hold back
        var redactor = LogRedactor(secrets: ["aab"])
        var shown = 0
        // when
        var most = 0
        for _ in 0..<50 {
            shown += redactor.redact([UInt8](repeating: 0x61, count: 10_000)).count
            most = max(most, redactor.held.storedCount)
        }
        // then: removed bytes make room when they are half of the buffer, beyond 64 KiB
        #expect(most < 2 * 64 * 1024 + 10_000)
        #expect(redactor.held.storedCount > 0)
        #expect(shown == 499_998)
        #expect(redactor.redact(Array("b".utf8)) + redactor.finish() == Array("***".utf8))
    }
}
