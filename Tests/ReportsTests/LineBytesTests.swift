import Model
import TestSupport
import Testing

@testable import Reports

/// Decisions by a line's bytes are the same as those by its text.
@Suite struct LineBytesTests {
    /// Returns lines made of parts that are significant to one of the readers, some of them joined without a blank.
    private func lines(_ parts: [String], count: Int) -> [[UInt8]] {
        var mutator = Mutator(state: 7)
        return (0..<count).map { _ in
            (0..<Int.random(in: 1...12, using: &mutator)).flatMap { _ in
                let part = Array((parts.randomElement(using: &mutator) ?? "").utf8)
                return part + (Bool.random(using: &mutator) ? [0x20] : [])
            }
        }
    }

    // MARK: Needles

    private static let texts = [
        "error:", "\u{1B}", "=== ", " ..", "ld: ", "Test    #", "Test #", "abcab", "multiple definition of",
    ]
    private static let needles: Needles = [
        "error:", "\u{1B}", "=== ", " ..", "ld: ", "Test    #", "Test #", "abcab", "multiple definition of",
    ]

    @Test(arguments: [false, true])
    func testThatALongLineHasANeedleWhereverItStands(isAlone: Bool) {
        for text in Self.texts {
            for before in 0..<100 {
                // given: a line that contains only the needle, or all of it but its end
                let line =
                    Array(String(repeating: "x", count: before).utf8) + Array(text.utf8.dropLast(isAlone ? 0 : 1))
                for after in [0, 1, 31, 32, 33, 64] {
                    let bytes = line + [UInt8](repeating: UInt8(ascii: "x"), count: after)
                    // when, then
                    #expect(
                        bytes.withUnsafeBytes { Self.needles.areIn($0) } == isAlone, "\(text) after \(before) bytes")
                }
            }
        }
    }

    @Test func testThatLinesHaveTheNeedlesThatTheirTextHas() {
        let parts =
            Self.texts + ["xxxxxxxxxxxxxxxxxxxx", "::::", "erro", "r:", "Test", "  ", "abcacab", "ef", "\u{0}", "é"]
        for line in lines(parts.filter { $0 != "\u{1B}" }, count: 1000) {
            let isThere = Self.texts.contains { text in
                line.indices.contains { line[$0...].starts(with: text.utf8) }
            }
            #expect(
                line.withUnsafeBytes { Self.needles.areIn($0) } == isThere, "\(String(decoding: line, as: UTF8.self))")
        }
    }

    // MARK: Compiled files

    /// Returns the files that the words of a line name, each with its module.
    private func compiled(_ line: [UInt8]) -> [String: String] {
        let words = line.withUnsafeBytes { LogLine(bytes: $0).text }.split(separator: " ").map(String.init)
        let place = words.firstIndex(of: "Compiling")
        let module = place.map { words.count > $0 + 2 ? words[$0 + 1] : "" } ?? ""
        let sources = words.filter { word in
            [".swift", ".c", ".cc", ".cpp", ".cxx", ".m", ".mm", ".S", ".s"].contains { word.hasSuffix($0) }
        }
        return sources.reduce(into: [:]) { $0[$1.split(separator: "/").last.map(String.init) ?? ""] = module }
    }

    @Test func testThatALineCompilesTheFilesThatItsWordsName() {
        let parts = [
            "Compiling ", " Compiling ", " -c ", "Kit", "a.c", "dir/b.swift", "/x/c.cpp", "c.swiftx", ".m", "e.tar.s",
            "f.c,",
            "g.", "h.C", "\u{1B}[1m", "\u{1B}[0m", "é.cc", "[1/2]", "2026-01-02T03:04:05.678", "a/b/c/",
        ]
        for line in lines(parts, count: 1000) {
            // given
            let text = String(decoding: line, as: UTF8.self)
            let expected = text.contains("Compiling ") || text.contains(" -c ") ? compiled(line) : [:]
            // when
            let found = CompiledFiles(log: line)
            // then
            for name in ["a.c", "b.swift", "c.cpp", "c.swiftx", ".m", "e.tar.s", "f.c", "g", "h.C", "é.cc"] {
                let module = expected[name]
                #expect(found.contains("Sources/Other/\(name)") == (module == ""), "\(name): \(text)")
                guard let module, !module.isEmpty, !module.contains("/") else { continue }
                #expect(found.contains("Sources/\(module)/\(name)"), "\(name): \(text)")
            }
        }
    }

    @Test func testThatFilesBeyondTheLimitAreNotKeptAndModulesStillAre() {
        // given: more files than are kept, and an optimized build after them
        var log = (0..<100_001).map { "cc -c f\($0).c\n" }.joined()
        log += "Building for production...\n[1/1] Compiling Kit A.swift\n"
        // when
        let compiled = CompiledFiles(log: Array(log.utf8))
        // then
        #expect(compiled.contains("src/f99999.c"))
        #expect(!compiled.contains("src/f100000.c"))
        #expect(compiled.contains("Sources/Kit/B.swift"))
    }

    // MARK: Analyzers

    /// Lines that linters print, and parts of them that are no finding.
    private static let printed = [
        "a.py:1:8:", "F401", "E5", "[W1]", "[rule]", "== a.rb ==", "==", "a/b.js", "b.yml", "In a.sh line 2:", "error",
        "warning",
        "-->", "Checking", "checking ", "Running", "make:", "No problems found", "0 errors", "words of prose", "  2:10",
        "C:", "(x)",
        "\u{1B}[1m", "\u{1B}[0m", "é", "\u{301}", "\t", "100%", "Location:", ">> Issue: [B101:a]", "Found 3 things.",
        "1/2", "]",
    ]

    @Test func testThatALineIsPassedOverOnlyWhereItsTextTellsNothing() {
        // given
        var reader = LintLines(root: SourceRoot(mountedAt: "/kit"))
        let plain = Array("plain words".utf8)
        var passed = 0
        for line in lines(Self.printed, count: 4000) where !line.isEmpty {
            line.withUnsafeBytes { bytes in
                let line = LogLine(bytes: bytes)
                let isPassed = reader.passOver(line)
                let (before, text) = (reader.finish().count, line.text)
                // when
                let isFinding = reader.consume(text)
                // then
                guard let isPassed else { return }
                passed += 1
                #expect(isPassed == isFinding, "\(text)")
                #expect(reader.finish().count == before, "\(text)")
                // The line has begun no finding that a later line continues.
                #expect(plain.withUnsafeBytes { reader.passOver(LogLine(bytes: $0)) } != nil, "\(text)")
            }
        }
        #expect(passed > 200)
    }

    @Test func testThatALineSaysWhatIsBeingDoneByItsBytesAsByItsText() {
        var known = 0
        for line in lines(Self.printed, count: 4000) where !line.isEmpty {
            line.withUnsafeBytes { bytes in
                let line = LogLine(bytes: bytes)
                guard AnalyzerProse.isProgress(line) else { return }
                known += 1
                #expect(AnalyzerProse.isKnown(line.text), "\(line.text)")
            }
        }
        #expect(known > 20)
        for text in [
            "checking", "Checking ", "check a.c", "Überprüfung checking a", "\u{1B}[1mChecking a.c", " checking a",
        ] {
            #expect(Array(text.utf8).withUnsafeBytes { !AnalyzerProse.isProgress(LogLine(bytes: $0)) }, "\(text)")
        }
    }
}
