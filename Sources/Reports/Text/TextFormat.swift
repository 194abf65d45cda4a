import Encodings

/// A recognizer of text formats by their lines.
struct TextFormat {
    /// The number of lines that are searched for linters' output, since any line may look like it.
    private static let maximumLines = 2000
    /// The number of lines beginning with `{` that are searched for events of tests.
    private static let maximumObjects = 20

    /// A format that a line identifies with certainty.
    private var found: ReportFormat?
    private var isTAP = false
    private var hasSanitizer = false
    private var hasSummary = false
    private var hasLine = false
    private var count = 0
    private var objects = 0

    /// Returns the format of a text; `nil` if it is unknown. All lines are read: a build may print many lines before its tests, and a warning before
    /// them must not hide the tests. Lines of compilers, linters and sanitizers therefore have the lowest precedence.
    static func of(_ bytes: [UInt8]) -> ReportFormat? {
        var format = TextFormat()
        LogLines.forEach(in: bytes) { format.consume($0) }
        // TAP is checked after the certain formats, since a line that begins with `ok` is weak evidence.
        if let found = format.found { return found }
        if format.isTAP { return .tap }
        if format.hasSummary { return .summaries }
        if format.hasSanitizer { return .sanitizer }
        // Only a complete reading shows whether a linter has printed a line.
        return format.hasLine || format.count > maximumLines ? .lines : nil
    }

    private mutating func consume(_ line: LogLine) {
        guard found == nil else { return }
        count += 1
        let isEarly = count <= Self.maximumLines
        let first = line.bytes.first ?? 0
        if Self.beginnings.contains(first) || first >= 0x80 || first == 0x1B || isEarly {
            let text = line.text
            found = certain(text)
            if !isTAP {
                switch TAPLine(Substring(text)) {
                case .version, .plan, .bailOut: isTAP = true
                // Further below, a line that begins with `ok` comes from any program.
                case .point: isTAP = isEarly
                default: break
                }
            }
            if !hasLine, isEarly {
                hasLine = LintLine.isLikely(text) || LintLines.beneath(text) != nil || LintLines.arrow(text) != nil
            }
        }
        if !hasSummary { hasSummary = line.contains(Self.summaries) }
        if !hasSanitizer, line.contains(SanitizerReader.needles) {
            hasSanitizer = SanitizerReader.isBeginning(line.text)
        }
    }

    /// The texts in the consoles of `SummaryConsoles`.
    private static let summaries: Needles = [
        "Testsuite summary for ", ", Tests=", " tests in ", " test in ", "# Running:", "Running ExUnit with seed",
        " by Sebastian Bergmann", " examples, ", " example, ", " pending : ",
    ]
    private static let beginnings = Set("=-o?FprTSn1B{:".utf8)

    private mutating func certain(_ text: String) -> ReportFormat? {
        guard let first = text.utf8.first else { return nil }
        switch first {
        case UInt8(ascii: ":"): return text.hasPrefix(":test-result: ") ? .automakeResult : nil
        case UInt8(ascii: "="): return text.hasPrefix("=== RUN   ") ? .goTest : nil
        case UInt8(ascii: "-"):
            return ["--- PASS: ", "--- FAIL: ", "--- SKIP: "].contains { text.hasPrefix($0) } ? .goTest : nil
        case UInt8(ascii: "o"): return text.hasPrefix("ok  \t") ? .goTest : nil
        case UInt8(ascii: "?"): return text.hasPrefix("?   \t") ? .goTest : nil
        case UInt8(ascii: "F"): return text.hasPrefix("FAIL\t") || text.hasPrefix("FAIL    ") ? .goTest : nil
        case UInt8(ascii: "p"): return text.hasPrefix("panic: ") ? .goTest : nil
        case UInt8(ascii: "r"):
            return text.hasPrefix("running ") && (text.hasSuffix(" tests") || text.hasSuffix(" test"))
                ? .cargoTest : nil
        case UInt8(ascii: "T"):
            if text.hasPrefix("Test project /") { return .ctestConsole }
            if text.hasPrefix("Test Suite '") || text.hasPrefix("Test Case '") { return .swiftTest }
            if text.hasPrefix("TAP version ") || text.hasPrefix("TAP Version ") { return .tap }
            return text.hasPrefix("TN:") ? .lcov : nil
        case UInt8(ascii: "S"): return text.hasPrefix("SF:") ? .lcov : nil
        case UInt8(ascii: "{"): return events(text)
        case 0x80...: return text.contains(" Test run started.") ? .swiftTest : nil
        default: return nil
        }
    }

    /// Recognizes events of tests after a build's output: `go test -json ./... 2>&1 | tee report.json`.
    private mutating func events(_ text: String) -> ReportFormat? {
        guard objects < Self.maximumObjects else { return nil }
        objects += 1
        // `try?` is used because a line that is not JSON is no event.
        guard let value = try? JSON.parse(text.utf8), value.isObject else { return nil }
        return ReportFormat(ofEvent: value)
    }
}
