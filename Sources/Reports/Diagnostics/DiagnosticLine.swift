/// A line of a log that contains a diagnostic.
struct DiagnosticLine: Equatable {
    var isError: Bool
    var message: String
    /// A compiler's warning group, or a linter's rule; empty if none is printed.
    var rule = ""
    var place: PrintedPlace?
    /// Whether it only reports that something else failed.
    var isConsequence = false

    /// Parses a line without terminal sequences; `nil` if it is no diagnostic.
    init?(_ line: String) {
        // Indented and numbered lines are source lines that a compiler prints.
        guard let first = line.utf8.first, first != 0x20, first != 0x09, !Self.isNumberedSource(line) else {
            return nil
        }
        if line.hasPrefix("error["), let end = line.range(ofFirst: "]: ") {
            // rustc: `error[E0425]: cannot find value`
            self.init(head: "", isError: true, text: line[end.upperBound...])
            rule = TextLimit.cut(
                String(line[..<end.lowerBound].dropFirst("error[".count)), toBytes: TextLimit.nameBytes)
        } else if let parsed = Self.severity(in: line) {
            self.init(head: parsed.head, isError: parsed.isError, text: parsed.text)
        } else if let parsed = Self.make(line) ?? Self.linker(line) {
            self = parsed
        } else {
            return nil
        }
    }

    private init?(head: Substring, isError: Bool, text: Substring) {
        self.isError = isError
        var text = text
        while text.last?.isWhitespace == true { text.removeLast() }
        (rule, message) = Self.ruleAndMessage(text)
        // These are Cargo's counts of the previous warnings.
        guard !message.isEmpty, isError || !(message.first == "`" && message.has(" generated ")) else { return nil }
        isConsequence = isError && Self.isConsequence(message)
        guard !head.isEmpty else { return }
        if let place = PrintedPlace(Self.afterLabel(head)) {
            if place.column == nil, Self.isXCTestFailure(message) { return nil }
            self.place = place
        } else if head.contains(where: \.isWhitespace), !Self.isLinkerText(message) {
            // `found 3: error: …` is prose; a tool or a file before the severity is one word.
            return nil
        } else if let place = PrintedPlace(head.prefix { $0 != "(" }) {
            self.place = place
        }
    }

    /// Returns the earliest `error:`, `fatal error:` or `warning:` that begins the line or follows `: `; `nil` if there is none.
    private static func severity(in line: String) -> (head: Substring, isError: Bool, text: Substring)? {
        let found = keywords.compactMap { keyword, isError in
            place(of: keyword, in: line).map { (range: $0, isError: isError) }
        }
        guard let first = found.min(by: { $0.range.lowerBound < $1.range.lowerBound }) else { return nil }
        let head = line[..<first.range.lowerBound].dropLast(2)
        return (head, first.isError, line[first.range.upperBound...].trimmingPrefix { $0 == " " })
    }

    private static func place(of keyword: StaticString, in line: String) -> Range<String.Index>? {
        var from = line.startIndex
        while let range = line[from...].range(ofFirst: keyword) {
            if range.lowerBound == line.startIndex || line[..<range.lowerBound].utf8.suffix(2).elementsEqual(": ".utf8)
            {
                return range
            }
            from = range.upperBound
        }
        return nil
    }

    private static let keywords: [(StaticString, Bool)] = [
        ("error:", true), ("fatal error:", true), ("warning:", false),
    ]

    /// Returns whether a line shows source, as swiftc, clang and gcc print it: `12 | let x = 1` or `  |  …`.
    private static func isNumberedSource(_ line: String) -> Bool {
        let rest = line.utf8.drop { (0x30...0x39).contains($0) }
        return rest.starts(with: " |".utf8) || rest.first == UInt8(ascii: "|")
    }

    /// Returns the text after the last `: `, since build tools print labels before a place: `C/C++: /src/a.cpp:3:4`.
    private static func afterLabel(_ head: Substring) -> Substring {
        guard let range = head.range(ofLast: ": ") else { return head }
        return head[range.upperBound...]
    }

    /// Returns whether a message is that of an XCTest failure: `FILE:LINE: error: ParserTests.testIt : XCTAssertEqual failed: …`.
    static func isXCTestFailure(_ message: String) -> Bool {
        guard let range = message.range(ofFirst: " : ") else { return false }
        let name = message[..<range.lowerBound]
        if name.hasPrefix("-["), name.hasSuffix("]") { return true }
        return name.contains(".") && !name.contains(where: \.isWhitespace)
    }

    private static func isConsequence(_ message: String) -> Bool {
        message == "fatalError"
            || consequences.contains { message.has($0) }
    }

    private static let consequences: [StaticString] = [
        "linker command failed with exit code", "link command failed with exit code", "ld returned 1 exit status",
        "command failed with exit code", "command failed due to signal", "final link failed",
        "could not compile `", "aborting due to ", "test failed, to rerun pass", " target failed:", " targets failed:",
        "too many errors emitted", "xited with unexpected signal code",
    ]
}

extension DiagnosticLine {
    /// Separates the rule from the text:
    /// - swiftc: `… [#DeprecatedDeclaration]`
    /// - clang and gcc: `… [-Wunused-variable]`, `[-Werror=unused]`, `[-Werror,-Wunused]`
    /// - clang-tidy and clang's analyzer: `… [bugprone-use-after-move]`, `[core.DivideZero]`
    /// - swift-format: `[DoNotUseSemicolons] …`
    static func ruleAndMessage(_ text: Substring) -> (rule: String, message: String) {
        if text.first == "[", let end = text.firstIndex(of: "]") {
            let name = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...].drop { $0 == " " }
            if isWord(name), name.first?.isUppercase == true, !rest.isEmpty {
                return (TextLimit.cut(String(name), toBytes: TextLimit.nameBytes), String(rest))
            }
        }
        if text.last == "]", let start = text.lastIndex(of: "["), start > text.startIndex,
            text[text.index(before: start)] == " "
        {
            let name = text[text.index(after: start)...].dropLast()
            if let rule = trailingRule(name) {
                let message = text[..<start].trimmingSuffix { $0 == " " }
                return (TextLimit.cut(rule, toBytes: TextLimit.nameBytes), String(message))
            }
        }
        return ("", String(text))
    }

    private static func trailingRule(_ name: Substring) -> String? {
        if name.hasPrefix("#") { return isWord(name.dropFirst()) ? String(name.dropFirst()) : nil }
        // The warning group identifies the rule, whether or not it was made an error.
        let parts = name.split(separator: ",")
            .map { $0.hasPrefix("-Werror=") ? "-W" + $0.dropFirst("-Werror=".count) : String($0) }
            .filter { $0 != "-Werror" && $0 != "-warnings-as-errors" && $0 != "warnings-as-errors" }
        guard let rule = parts.first, parts.allSatisfy({ isWord($0) }) else { return nil }
        // `[Int]` at the end of a message is a type; a rule has a dash or a dot.
        return rule.contains("-") || rule.contains(".") ? rule : nil
    }

    private static func isWord(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    || [0x2B, 0x2D, 0x2E, 0x3D, 0x5F].contains($0)
            }
    }
}
