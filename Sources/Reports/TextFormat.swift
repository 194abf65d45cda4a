/// Tells the formats of text apart by their first lines.
enum TextFormat {
    /// How many lines are looked at; what a format begins with comes early.
    private static let maximumLines = 2000

    static func of(_ bytes: [UInt8]) -> ReportFormat? {
        var found: ReportFormat?
        var hasLine = false
        var count = 0
        // Of the bytes only the beginning: a line of TAP may come after what a program printed first.
        LogLines.forEach(in: Array(bytes.prefix(1 << 20))) { line in
            count += 1
            guard found == nil, count <= maximumLines else { return }
            let text = line.text
            if let format = certain(text) { found = format }
            if !hasLine {
                hasLine = LintLine.isLikely(text) || LintLines.beneath(text) != nil || LintLines.arrow(text) != nil
            }
        }
        if let found { return found }
        // TAP is asked last: a line that begins with `ok` is little.
        var tap = TAPRun(root: SourceRoot(mountedAt: "/"))
        count = 0
        LogLines.forEach(in: Array(bytes.prefix(1 << 20))) { line in
            count += 1
            if count <= maximumLines, !tap.isTAP { tap.take(line.text) }
        }
        if tap.isTAP { return .tap }
        // Whether there is a line that a linter printed only all lines tell.
        return hasLine || bytes.count > 1 << 20 ? .lines : nil
    }

    private static func certain(_ text: String) -> ReportFormat? {
        guard let first = text.utf8.first else { return nil }
        switch first {
        case UInt8(ascii: "="):
            if text.hasPrefix("=== RUN   ") { return .goTest }
            return SanitizerReader.isBeginning(text) ? .sanitizer : nil
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
        case 0x80...: return text.contains(" Test run started.") ? .swiftTest : nil
        default: return SanitizerReader.isBeginning(text) ? .sanitizer : nil
        }
    }
}
