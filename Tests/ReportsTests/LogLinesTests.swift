import Model
import TestSupport
import Testing

@testable import Reports

@Suite struct LogLinesTests {
    private func lines(_ log: String, pieces: Int) -> [String] {
        var (lines, found) = (LogLines(), [String]())
        feed(Array(log.utf8), pieces: pieces, to: &lines) { found.append($0.text) }
        return found
    }

    private func feed(_ log: [UInt8], pieces: Int, to lines: inout LogLines, _ body: (LogLine) -> Void) {
        log.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: pieces) {
                lines.consume(UnsafeRawBufferPointer(rebasing: bytes[start..<min(bytes.count, start + pieces)]), body)
            }
        }
        lines.finish(body)
    }

    @Test(arguments: [1, 2, 3, 5, 7, 100])
    func testThatItCutsAtEveryLineEndWhereverThePiecesEnd(pieces: Int) {
        #expect(
            lines("one\ntwo\r\n\n10%\r20%\r\n\u{1B}[31mred\u{1B}[0m\nlast", pieces: pieces)
                == ["one", "two", "10%", "20%", "red", "last"])
    }

    @Test(.proves(.jobs, "A log is read in pieces, whatever its size"), arguments: [1000, 64 * 1024, 1 << 20])
    func testThatOfALongLineOnlyTheBeginningIsKept(pieces: Int) {
        let found = lines(String(repeating: "a", count: 200_000) + "\nnext\n", pieces: pieces)
        #expect(found.map(\.utf8.count) == [LogLines.maximumLineBytes, 4])
    }

    /// A console reader, and its result for a log.
    struct Reader: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var whole: @Sendable ([UInt8]) -> String
        var inPieces: @Sendable ([UInt8], (inout LogLines, (LogLine) -> Void) -> Void) -> String
    }

    private static let listed = ["TinyTests.TinyTests/testFail", "STests.S/works()"]
    static let readers = [
        Reader(testDescription: "diagnostics") {
            "\(DiagnosticReader.findings(in: $0, root: Samples.root))"
        } inPieces: { _, feed in
            var (lines, reader) = (LogLines(), DiagnosticReader(root: Samples.root))
            feed(&lines) { reader.consume($0) }
            return "\(reader.finish())"
        },
        Reader(testDescription: "XCTest") {
            "\(XCTestConsoleReader.tests(in: $0, root: Samples.root, listed: listed))"
        } inPieces: { _, feed in
            var (lines, reader) = (LogLines(), XCTestConsoleReader(root: Samples.root, listed: listed))
            feed(&lines) { reader.consume($0) }
            return "\(reader.finish())"
        },
        Reader(testDescription: "Swift Testing") {
            "\(SwiftTestingConsoleReader.tests(in: $0, root: Samples.root, listed: listed))"
        } inPieces: { _, feed in
            var (lines, reader) = (LogLines(), SwiftTestingConsoleReader(root: Samples.root, listed: listed))
            feed(&lines) { reader.consume($0) }
            return "\(reader.finish())"
        },
        Reader(testDescription: "crash") {
            CommandEnd(console: $0).crash ?? "none"
        } inPieces: { _, feed in
            var (lines, reader) = (LogLines(), CrashReader())
            feed(&lines) { reader.consume($0) }
            return reader.finish() ?? "none"
        },
    ]

    @Test(
        .proves(.jobs, "A log is read in pieces, whatever its size"),
        arguments: readers, ["build-errors.txt", "test-both-crash.txt", "test-parallel.txt", "test-xctest-crash.txt"])
    func testThatALogInPiecesSaysWhatItSaysAsAWhole(reader: Reader, sample: String) throws {
        // given
        let log = try Samples.bytes(sample)
        let whole = reader.whole(log)
        // when
        for pieces in [1, 17, 4096] {
            let inPieces = reader.inPieces(log) { lines, body in feed(log, pieces: pieces, to: &lines, body) }
            // then
            #expect(inPieces == whole, "in pieces of \(pieces)")
        }
    }

    private static let crowded: Needles = [
        "abcab", "#0", "#1", "#2", "#3", "#4", "#5", "#6", "#7", "#8", "#9", "+0", "+1", "+2", "+3", "+4", "+5", "+6",
    ]

    /// Each reader alone, and all of them with room for three bytes each.
    @Test(arguments: [["abcab"], crowded])
    func testThatANeedleIsFoundWhereverItStands(needles: Needles) {
        for (text, isThere) in [
            ("abcab", true), ("xabcab", true), ("abcabx", true), ("abcabcab", true), ("abcacab", false),
            ("abca", false),
            ("", false), ("ababcab", true), ("abcbabcb", false), ("abcabc", true), ("abc", false),
        ] {
            #expect(Array(text.utf8).withUnsafeBytes { needles.areIn($0) } == isThere, "\(text)")
        }
    }

    @Test func testThatEachOfManyNeedlesIsFoundAndNothingElse() {
        // given
        let texts = ["error:", "warning:", "error[", "undefined reference to", "ld: ", "--> ", ": *** ", "d"]
        let needles: Needles = [
            "error:", "warning:", "error[", "undefined reference to", "ld: ", "--> ", ": *** ", "d",
        ]
        // when, then: also parts of lines, and one after another
        var lines: [String] = []
        for text in texts {
            lines += [text, String(text.dropLast()), String(text.dropFirst()), text + text, "x\(text)x"]
            for next in texts { lines.append(String(text.dropLast()) + String(next.dropFirst())) }
        }
        for text in lines {
            let isThere = texts.contains { text.contains($0) }
            #expect(Array(text.utf8).withUnsafeBytes { needles.areIn($0) } == isThere, "\(text)")
        }
    }

    @Test(arguments: ["error:", "warning:", "error[E1]", "-->", ">>>", "ld:"])
    func testThatALineThatMayBeADiagnosticIsNotTakenForAFileThatIsCompiled(text: String) {
        for words in ["Kit\(text) A", "\(text)Kit A", "\(text) A", "Kit \(text)A", "Kit A\(text)"] {
            let line = Array("[1/2] Compiling \(words).swift".utf8)
            line.withUnsafeBytes { #expect(CompilingLines.names(in: $0) == nil, "\(words)") }
        }
    }
}
