/// Handles lines that arrive while a test is running and are not its own.
extension XCTestRun {
    /// Returns whether a line is about another test, or a run, while a test is running.
    func isOfAnother(_ text: String, than running: Running) -> Bool {
        if let range = text.range(ofFirst: "Test Case '") {
            return Self.own(running.printed, in: text) == nil && Self.testCase(text[range.upperBound...]) != nil
        }
        if let name = Self.failedTest(text) { return name != running.printed }
        return text.hasPrefix("Test Suite '") || text.has("Test Suite 'All tests' ")
            || text.has("Test Suite 'Selected tests' ")
            || Self.isParallel(text) || Self.beginsSwiftTesting(text)
    }

    /// Returns the test in a failure's line such as `FILE:LINE: error: ParserTests.testIt : text`; `nil` for other lines.
    static func failedTest(_ text: String) -> Substring? {
        guard let range = text.range(ofFirst: ": error: "),
            DiagnosticLine.isXCTestFailure(String(text[range.upperBound...])),
            let separator = text[range.upperBound...].range(ofFirst: " : ")
        else { return nil }
        return text[range.upperBound..<separator.lowerBound]
    }

    /// Returns the text after the last occurrence of the running test's name in the line: `passed (0.1 seconds)`. `nil` if there is none.
    static func own(_ printed: String, in text: String) -> Substring? {
        var found: Substring?
        var from = text.startIndex
        while let range = text[from...].range(ofFirst: "Test Case '") {
            from = range.upperBound
            let rest = text[from...]
            if rest.hasPrefix(printed), rest.dropFirst(printed.count).hasPrefix("' ") {
                found = rest.dropFirst(printed.count + 2)
            }
        }
        return found
    }

    static func beginsSwiftTesting(_ text: String) -> Bool {
        text.hasPrefix("◇ Test run started") || text.hasPrefix("􀟈")
    }

    /// Reads a line of a Swift Testing run. The run's end shows that its tests printed the held lines. Without that end its process died, and another
    /// may follow.
    mutating func takeWithinSwiftTesting(_ text: String) {
        if text.first?.isASCII == false, text.has(" Test run with ") {
            isInSwiftTesting = false
            drop()
        } else if text.has("Test Case '") || text.has("Test Suite '") || text.has(": error: ") || text.has("Executed ")
        {
            hold(text)
        }
    }

    mutating func hold(_ text: String) {
        running?.continuation = 0
        if Self.beginsSwiftTesting(text) || text.has("' started") && text.has("Test Suite '") { isBeyond = true }
        guard heldBytes + text.utf8.count <= Self.maximumHeldBytes else { return }
        heldBytes += text.utf8.count
        held.append(text)
    }

    /// Drops the held lines, because the running test has ended by its own line: it printed them.
    mutating func drop() {
        (held, heldBytes, isBeyond) = ([], 0, false)
    }

    /// Reads the held lines again if the log or its run ends without the running test's end, since they are the log's own. If a test's end is among
    /// them, that test has printed the held lines before its end.
    mutating func readHeld() {
        isInSwiftTesting = false
        guard !held.isEmpty else { return }
        let lines = held
        drop()
        var ends: [String: [Int]] = [:]
        for (index, text) in lines.enumerated() {
            guard let range = text.range(ofFirst: "Test Case '"), let found = Self.testCase(text[range.upperBound...]),
                !found.word.hasPrefix("started")
            else { continue }
            ends[found.printed, default: []].append(index)
        }
        for (name, places) in ends { ends[name] = places.reversed() }
        for (index, text) in lines.enumerated() {
            if let now = running, let end = Self.next(of: now.printed, after: index, in: &ends), end > index {
                if isOfAnother(text, than: now) { continue }
            }
            consume(text)
        }
    }

    /// Returns the index of a test's next end, at or after an index; `nil` if there is none. Earlier ends are removed.
    private static func next(of name: String, after index: Int, in ends: inout [String: [Int]]) -> Int? {
        while let last = ends[name]?.last, last < index { ends[name]?.removeLast() }
        return ends[name]?.last
    }

    /// Returns the test as it is printed, and the word after it; `nil` for other texts.
    private static func testCase(_ rest: Substring) -> (printed: String, word: Substring)? {
        guard let quote = rest.range(ofFirst: "' "), name(rest[..<quote.lowerBound]) != nil,
            let word = rest[quote.upperBound...].split(separator: " ", maxSplits: 1).first,
            ["started", "started.", "passed", "failed", "skipped"].contains(word)
        else { return nil }
        return (String(rest[..<quote.lowerBound]), word)
    }
}
