import Model

/// A reader of the human-readable output of `cargo test`, line by line.
struct CargoTestLines: Sendable {
    /// The test whose result comes in a separate line, because the test printed output first.
    private var waiting: String?
    /// The test whose output is being printed.
    private var output: String?

    /// Whether the next lines may be a test's output, or its result.
    var isWithin: Bool { waiting != nil || output != nil }

    /// Whether a test has started whose result comes in a separate line.
    var isWaiting: Bool { waiting != nil }

    mutating func consume(_ line: String, into run: inout CargoTestRun) {
        if let count = Self.count(line) {
            guard run.begin(printed: count) else {
                if let output { run.output(line, of: output) }
                return
            }
            (waiting, output) = (nil, nil)
        } else if let counts = Self.result(line), run.mayEnd(with: counts.all) {
            (waiting, output) = (nil, nil)
            run.end(counts: (counts.passed, counts.failed, counts.ignored))
        } else if line.hasPrefix("---- "), line.hasSuffix(" stdout ----") || line.hasSuffix(" stderr ----") {
            output = String(line.dropFirst(5).dropLast(12))
        } else if line == "failures:" {
            output = nil
        } else if let output {
            run.output(line, of: output)
        } else if line.hasPrefix("test ") {
            test(line.dropFirst(5), into: &run)
        } else if waiting == nil, let begin = Self.beginWithin(line) {
            test(line[begin...], into: &run)
        } else if let name = waiting, let ended = Self.outcome(line[...]) {
            waiting = nil
            run.end(name, ended.outcome, message: ended.message)
        } else if let suite = Self.suite(line) {
            run.name(suite)
        } else if let count = Self.unnamedTests(line.utf8) {
            run.consume(unnamed: count)
        }
    }

    /// Returns how many tests a line of `cargo test -q` shows: `..iF`, `.i 2/3`, `tests::fails --- FAILED` (Rust 1.95).
    /// `nil` if it is no such line.
    static func unnamedTests(_ line: some BidirectionalCollection<UInt8>) -> Int? {
        let rest = line.drop { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "i") || $0 == UInt8(ascii: "F") }
        let count = line.distance(from: line.startIndex, to: rest.startIndex)
        if count > 0, rest.isEmpty || isProgress(rest) { return count }
        return line.suffix(failed.count).elementsEqual(failed) ? 1 : nil
    }

    private static let failed = Array(" --- FAILED".utf8)

    /// Whether the rest of a line is ` 88/120`.
    private static func isProgress(_ rest: some Collection<UInt8>) -> Bool {
        guard rest.first == UInt8(ascii: " ") else { return false }
        let numbers = rest.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return numbers.count == 2
            && numbers.allSatisfy { !$0.isEmpty && $0.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } }
    }

    /// `tests::adds - should panic ... ok`
    private mutating func test(_ text: Substring, into run: inout CargoTestRun) {
        guard let range = text.range(ofFirst: " ... ") ?? text.range(ofFirst: " ...") else { return }
        var name = text[..<range.lowerBound]
        for suffix in [" - should panic", " - compile fail", " - compile"] where name.hasSuffix(suffix) {
            name = name.dropLast(suffix.count)
        }
        let rest = text[range.upperBound...]
        if let ended = Self.outcome(rest) ?? Self.outcomeAtEnd(of: rest) {
            run.end(String(name), ended.outcome, message: ended.message)
        } else if !rest.hasPrefix("bench:") {
            run.start(String(name))
            waiting = String(name)
        }
    }

    /// Returns the start of a test's line within another line: `hitest tests::works ... ok`. With `--nocapture`, the previous test's output may end
    /// without a line feed. `nil` if there is none.
    private static func beginWithin(_ line: String) -> Substring.Index? {
        guard line.hasSuffix("ok") || line.hasSuffix("FAILED"), let mark = line.range(ofLast: " ... "),
            let word = line[..<mark.lowerBound].range(ofLast: "test ")
        else { return nil }
        let name = line[word.upperBound..<mark.lowerBound]
        return name.isEmpty || name.contains(" ") ? nil : word.upperBound
    }

    /// Returns the outcome at a line's end: `hiok`. With `--nocapture`, the test's output may end without a line feed. `nil` if there is none.
    private static func outcomeAtEnd(of text: Substring) -> (outcome: TestResult.Outcome, message: String?)? {
        if text.hasSuffix("FAILED") { return (.failed, nil) }
        // Other harnesses write `ok (gas usage 12)`.
        return text.hasSuffix("ok") || text.hasPrefix("ok (") ? (.passed, nil) : nil
    }

    private static func outcome(_ text: Substring) -> (outcome: TestResult.Outcome, message: String?)? {
        var text = text.trimmingSuffix(while: \.isWhitespace)
        // `ok <0.003s>` with --report-time
        if text.hasSuffix("s>"), let range = text.range(ofLast: " <") { text = text[..<range.lowerBound] }
        if text == "ok" { return (.passed, nil) }
        if text == "FAILED" || text.hasPrefix("FAILED (") { return (.failed, nil) }
        if text == "ignored" { return (.skipped, nil) }
        return text.hasPrefix("ignored, ") ? (.skipped, String(text.dropFirst("ignored, ".count))) : nil
    }

    /// Returns the count in `running 5 tests`; `nil` for another line.
    private static func count(_ line: String) -> Int? {
        guard line.hasPrefix("running "), line.hasSuffix(" tests") || line.hasSuffix(" test") else { return nil }
        let words = line.split(separator: " ")
        return words.count == 3 ? TAPLine.number(words[1]) : nil
    }

    /// Returns the counts in `test result: FAILED. 2 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.07s`; `nil` for another
    /// line.
    private static func result(_ line: String) -> (passed: Int, failed: Int, ignored: Int, all: Int)? {
        guard line.hasPrefix("test result: "), line.utf8.count < 400 else { return nil }
        func number(_ word: Substring) -> Int {
            let words = line.split { $0 == " " || $0 == ";" }
            guard let place = words.firstIndex(of: word), place > 0 else { return 0 }
            return TAPLine.number(words[place - 1]) ?? 0
        }
        let (passed, failed, ignored) = (number("passed"), number("failed"), number("ignored"))
        return (passed, failed, ignored, passed &+ failed &+ ignored &+ number("measured"))
    }

    private static func suite(_ line: String) -> String? {
        let text = line.drop { $0 == " " }
        if text.hasPrefix("Doc-tests ") { return String(text) }
        guard text.hasPrefix("Running "), text.hasSuffix(")"), let open = text.range(ofLast: "("),
            text.utf8.count < 4096
        else { return nil }
        // The file's name consists of the crate's or the test's name and a hash.
        let file = text[open.upperBound...].dropLast().split(separator: "/").last ?? ""
        guard let dash = file.lastIndex(of: "-") else { return nil }
        return String(file[..<dash])
    }
}
