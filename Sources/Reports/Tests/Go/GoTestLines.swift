import Model

/// A reader of the human-readable output of `go test`, line by line.
struct GoTestLines: Sendable {
    /// The package of a test is unknown until the package's own line comes.
    private static let unknown: String? = nil

    /// The test whose output is being read.
    private var current: String?
    /// Whether that test has ended, so that indented lines are its output.
    private var isAfter = false
    /// Whether a package's result line has been read.
    private(set) var hasResult = false
    /// The package of the compiler's messages being read: `# kit [kit.test]`.
    private var built: String?

    /// Whether the next lines may be a test's output, or a compiler's.
    var isWithin: Bool { current != nil || isAfter || built != nil }

    mutating func consume(_ line: String, into run: inout GoTestRun) {
        if takeBuild(line, into: &run) { return }
        let text = line.drop { $0 == " " }
        if let name = Self.name(text, after: "=== RUN   "), run.start(name, package: Self.unknown) {
            (current, isAfter) = (name, false)
        } else if let name = Self.name(text, after: "=== CONT  ") ?? Self.name(text, after: "=== NAME  "),
            run.isRunning(name)
        {
            run.goOn(name, package: Self.unknown)
            (current, isAfter) = (name, false)
        } else if let name = Self.name(text, after: "=== PAUSE "), run.isRunning(name) {
            run.pause(name, package: Self.unknown)
            current = nil
        } else if text.hasPrefix("--- "), let result = Self.result(text), run.mayEnd(result.name) {
            run.end(result.name, result.outcome, seconds: result.seconds, package: Self.unknown)
            (current, isAfter) = (result.name, true)
        } else if let result = Self.resultWithin(line), run.isRunning(result.name) {
            run.output(String(result.output), test: result.name, package: Self.unknown)
            run.end(result.name, result.outcome, seconds: result.seconds, package: Self.unknown)
            (current, isAfter) = (result.name, true)
        } else if let package = Self.package(line) {
            hasResult = true
            run.name(package.name)
            run.endPackage(
                package.name, isFailed: package.isFailed, reason: package.reason,
                isEmpty: package.reason.hasPrefix("no test"))
            (current, isAfter) = (nil, false)
        } else if line == "PASS" || line == "FAIL" {
            run.finish(Self.unknown)
            (current, isAfter) = (nil, false)
        } else if isAfter, line.hasPrefix("    ") {
            run.outputAfter(String(text), package: Self.unknown)
        } else if let current, !isAfter {
            run.output(line + "\n", test: current, package: Self.unknown)
        } else if current != nil || line.hasPrefix("panic: ") {
            // A panic's output comes after the result of its test.
            isAfter = false
            current = nil
            run.output(line + "\n", test: nil, package: Self.unknown)
        }
    }

    /// Reads a compiler's message about a package: the lines below `# kit [kit.test]`.
    /// - Returns: Whether the line is one.
    private mutating func takeBuild(_ line: String, into run: inout GoTestRun) -> Bool {
        if current == nil, line.hasPrefix("# "), line.utf8.count < 2000 {
            built = String(line.dropFirst(2))
            return true
        }
        guard let package = built else { return false }
        if ["FAIL", "ok  \t", "?   \t", "=== ", "--- ", "PASS"].contains(where: line.hasPrefix) {
            built = nil
            return false
        }
        run.build(line, of: package)
        return true
    }

    private static func name(_ text: Substring, after prefix: String) -> String? {
        guard text.hasPrefix(prefix) else { return nil }
        let name = text.dropFirst(prefix.count).trimmingSuffix(while: \.isWhitespace)
        return name.isEmpty ? nil : String(name)
    }

    /// Returns a result within a line, such as `no line feed--- PASS: TestOne (0.15s)`, where the test's output did not end with a line feed. `nil`
    /// if there is none.
    static func resultWithin(
        _ line: some StringProtocol
    ) -> (name: String, outcome: TestResult.Outcome, seconds: Double?, output: Substring)? {
        let line = Substring(line)
        guard let mark = line.range(ofFirst: "--- "), line.hasSuffix("s)"),
            let result = result(line[mark.lowerBound...])
        else { return nil }
        return (result.name, result.outcome, result.seconds, line[..<mark.lowerBound])
    }

    /// Returns the result in `--- FAIL: TestOne/part (0.15s)`; `nil` for other text.
    private static func result(_ text: Substring) -> (name: String, outcome: TestResult.Outcome, seconds: Double?)? {
        let outcomes: [(String, TestResult.Outcome)] = [
            ("--- PASS: ", .passed), ("--- FAIL: ", .failed), ("--- SKIP: ", .skipped),
        ]
        guard let (prefix, outcome) = outcomes.first(where: { text.hasPrefix($0.0) }) else { return nil }
        var name = text.dropFirst(prefix.count).trimmingSuffix(while: \.isWhitespace)
        var seconds: Double?
        if let range = name.range(ofLast: " ("), name.hasSuffix("s)") {
            seconds = Double(name[range.upperBound...].dropLast(2))
            name = name[..<range.lowerBound]
        }
        return name.isEmpty ? nil : (String(name), outcome, seconds)
    }

    /// Returns the result of a package, such as `ok  \tkit/a\t0.1s`, `FAIL\tkit/b [build failed]` or `?   \tkit/c\t[no test files]`. Older versions
    /// print spaces. `nil` for other lines.
    private static func package(_ line: String) -> (name: String, isFailed: Bool, reason: String)? {
        guard line.utf8.count < 2000 else { return nil }
        let isFailed = line.hasPrefix("FAIL\t") || line.hasPrefix("FAIL    ")
        guard isFailed || line.hasPrefix("ok  \t") || line.hasPrefix("?   \t") else { return nil }
        let words = line.split { $0 == " " || $0 == "\t" }
        guard words.count >= 3 else { return nil }
        let rest = words.dropFirst(2).joined(separator: " ")
        // The third word is a time, `(cached)` or a reason in brackets.
        guard rest.hasPrefix("[") || rest.hasPrefix("(") || rest.first?.isNumber == true else { return nil }
        // `ok  \tkit\t0.1s [no tests to run]`
        if rest.hasSuffix(" [no tests to run]") { return (String(words[1]), isFailed, "no tests to run") }
        return (String(words[1]), isFailed, rest.hasPrefix("[") ? String(rest.dropFirst().dropLast()) : "")
    }
}
