import Model

/// A finding of a linter, or of a compiler that prints the words "warning" and "error" elsewhere than usual.
struct LintLine: Equatable {
    var message: String
    var rule: String
    var place: PrintedPlace

    /// Returns whether a linter may have printed the line. It is fast, and is used to recognize a format.
    static func isLikely(_ text: String) -> Bool { LintLine(text) != nil || DiagnosticLine(text) != nil }

    /// - `a.py:1:8: F401 [*] 'os' imported but unused`, `a.py:1:8: error[F821] …` (ruff, flake8, pycodestyle)
    /// - `Gemfile:50:81: C: Layout/LineLength: …` (rubocop), `a.sh:2:25: note: … [SC2086]` (shellcheck)
    /// - `a.c:9:19: style: Same expression … [duplicateExpression]` (cppcheck)
    /// - `[HIGH] /a.cpp:425:33: Called C++ object pointer is null [core.CallAndMessage]` (CodeChecker)
    /// - `a.go:42:21: Error return value is not checked (errcheck)` (golangci-lint), `a.go:3:28: undefined: x` (go)
    /// - `a.ts(3,13): error TS7006: …`, `a.cs (10): error CS0103: …` (tsc, MSBuild)
    init?(_ text: String) {
        guard let first = text.utf8.first, first != 0x20, first != 0x09, text.utf8.count <= 16 * 1024 else {
            return nil
        }
        if let parsed = Self.parenthesised(text) {
            self = parsed
            return
        }
        var line = text[...]
        // CodeChecker prints a severity first.
        if first == UInt8(ascii: "["), let end = line.range(ofFirst: "] "),
            end.lowerBound < line.utf8.index(line.startIndex, offsetBy: min(14, line.utf8.count))
        {
            line = line[end.upperBound...]
        }
        guard let (place, rest) = Self.place(line) else { return nil }
        self.place = place
        if let parsed = Self.code(rest) {
            (rule, message) = parsed
            return
        }
        if let word = Self.severities.first(where: { rest.hasPrefix($0) }) {
            let text = rest.dropFirst(word.count)
            (rule, message) = Self.bracketed(text) ?? ("", String(text))
            // A compiler's notes explain the previous diagnostic; a linter's notes have a rule.
            guard !message.isEmpty, word != "note: " && word != "info: " || !rule.isEmpty else { return nil }
            return
        }
        if place.path.hasSuffix(".go") {
            message = String(rest)
            rule = ""
            if rest.hasSuffix(")"), let open = rest.range(ofLast: " (") {
                let name = rest[open.upperBound...].dropLast()
                if Self.isWord(name) {
                    (rule, message) = (String(name), String(rest[..<open.lowerBound]))
                }
            }
            return
        }
        guard let parsed = Self.bracketed(rest) else { return nil }
        (rule, message) = parsed
    }

    private init(message: String, rule: String, place: PrintedPlace) {
        (self.message, self.rule, self.place) = (message, rule, place)
    }

    private static let severities = [
        "style: ", "performance: ", "portability: ", "information: ", "note: ", "info: ", "convention: ", "refactor: ",
        "Warning: ", "Error: ",
    ]

    /// Splits `PATH:LINE:COLUMN: REST` or `PATH:LINE: REST`; `nil` for other lines.
    private static func place(_ line: Substring) -> (PrintedPlace, Substring)? {
        guard let end = line.range(ofFirst: ": "), end.lowerBound > line.startIndex else { return nil }
        let head = line[..<end.lowerBound]
        guard head.utf8.count <= SourceRoot.maximumPathBytes, let place = PrintedPlace(head), place.line != nil,
            !place.path.hasPrefix("<")
        else { return nil }
        let rest = line[end.upperBound...]
        return rest.isEmpty ? nil : (place, rest)
    }

    /// Splits a text with a rule first, such as `F401 [*] text`, `C: Layout/LineLength: text` or `[F401] text`; `nil` if there is none.
    private static func code(_ rest: Substring) -> (rule: String, message: String)? {
        if rest.first == "[", let end = rest.range(ofFirst: "] ") {
            let name = rest[..<end.lowerBound].dropFirst()
            let text = rest[end.upperBound...]
            // yamllint: `[warning] missing document start "---" (document-start)`
            if name == "warning" || name == "error", let parsed = parenthesisedRule(text) { return parsed }
            return isWord(name) && !text.isEmpty ? (String(name), String(text)) : nil
        }
        let word = rest.prefix { $0 != " " }
        var text = rest.dropFirst(word.count).drop { $0 == " " }
        if word.count == 2, word.last == ":", let letter = word.first, "CRWEF".contains(letter) {
            // rubocop prints the cop's name since version 0.38.
            var rule = ""
            for mark in ["[Correctable] ", "[Corrected] ", "[Todo] "] where text.hasPrefix(mark) {
                text = text.dropFirst(mark.count)
            }
            if let colon = text.range(ofFirst: ": "), isWord(text[..<colon.lowerBound], also: "/"),
                text[..<colon.lowerBound].utf8.contains(UInt8(ascii: "/"))
            {
                rule = String(text[..<colon.lowerBound])
                text = text[colon.upperBound...]
            }
            return text.isEmpty ? nil : (rule, String(text))
        }
        let letters = word.prefix { $0.isASCII && $0.isUppercase }
        var digits = word.dropFirst(letters.count)
        // pylint: `C0114: Missing module docstring (missing-module-docstring)`
        let hasColon = digits.last == ":" && text.last == ")"
        if hasColon { digits = digits.dropLast() }
        guard (1...6).contains(letters.count), (2...6).contains(digits.count),
            digits.allSatisfy({ $0.isASCII && $0.isNumber })
        else { return nil }
        if text.hasPrefix("[*] ") { text = text.dropFirst(4) }
        return text.isEmpty ? nil : (String(hasColon ? word.dropLast() : word), String(text))
    }

    /// Splits a text with a rule in parentheses at its end, such as `too many spaces after colon (colons)`; `nil` if there is none.
    static func parenthesisedRule(_ text: Substring) -> (rule: String, message: String)? {
        guard text.last == ")", let open = text.range(ofLast: " (") else { return nil }
        let name = text[open.upperBound...].dropLast()
        let message = text[..<open.lowerBound].trimmingSuffix { $0 == " " }
        return isWord(name) && !message.isEmpty ? (String(name), String(message)) : nil
    }

    /// Returns a finding without a rule, such as pyflakes' `a.py:1:1: 'os' imported but unused`. In an analysis' output, every text with a file, a
    /// line and a column is a finding, except notes that explain another one.
    static func bare(_ text: String) -> (message: String, place: PrintedPlace)? {
        guard text.utf8.count <= 16 * 1024, let end = text.range(ofFirst: ": "), end.lowerBound > text.startIndex else {
            return nil
        }
        let head = text[..<end.lowerBound]
        let message = text[end.upperBound...].trimmingSuffix(while: \.isWhitespace)
        guard head.utf8.count <= SourceRoot.maximumPathBytes, let place = PrintedPlace(head), place.line != nil,
            place.column != nil || head.hasSuffix(":0"), place.path.utf8.first != UInt8(ascii: "<"),
            place.path.contains(".") || place.path.contains("/"), !head.contains(where: \.isWhitespace),
            !place.path.contains("://"), let first = message.first, first != " ",
            !["note:", "info:", "required from", "included from"].contains(where: message.hasPrefix)
        else { return nil }
        return (String(message), place)
    }

    /// Splits a text with a rule in brackets at its end, such as `Memory leak: p [memleak]`. In an analyzer's output every such word is a rule,
    /// except names of types. `nil` if there is none.
    static func trailingRule(_ message: String) -> (rule: String, message: String)? {
        guard message.last == "]", let open = message.range(ofLast: " ["), open.lowerBound > message.startIndex else {
            return nil
        }
        let name = message[open.upperBound...].dropLast()
        let isCode = name.allSatisfy { $0.isUppercase || $0.isNumber }
        guard isWord(name), isCode || name.first?.isLowercase == true else { return nil }
        return (String(name), String(message[..<open.lowerBound]))
    }

    /// Splits `text [rule]`, where the rule contains a dash, a dot, a digit, `leak`, or an uppercase letter after the first one; `nil` if there is
    /// none.
    private static func bracketed(_ rest: Substring) -> (rule: String, message: String)? {
        let text = rest.trimmingSuffix(while: \.isWhitespace)
        guard text.last == "]", let open = text.range(ofLast: " [") else { return nil }
        let name = text[open.upperBound...].dropLast()
        guard isWord(name),
            name.dropFirst().contains(where: { "-.0123456789".contains($0) || $0.isUppercase }) || name.contains("leak")
        else { return nil }
        let message = text[..<open.lowerBound]
        return message.isEmpty ? nil : (String(name), String(message))
    }

    /// Parses `PATH(LINE,COLUMN): error CODE: TEXT` or `PATH (LINE) : warning : TEXT`; `nil` for other lines.
    private static func parenthesised(_ text: String) -> LintLine? {
        guard let close = text.range(ofFirst: "):") ?? text.range(ofFirst: ") :"),
            let open = text[..<close.lowerBound].range(ofLast: "(")
        else { return nil }
        let numbers = text[open.upperBound..<close.lowerBound].split(separator: ",", omittingEmptySubsequences: false)
        guard (1...4).contains(numbers.count), numbers.allSatisfy({ TAPLine.number($0) != nil }) else { return nil }
        let path = text[..<open.lowerBound].trimmingSuffix { $0 == " " }
        guard !path.isEmpty, path.first != "|", path.utf8.count <= SourceRoot.maximumPathBytes else { return nil }
        var rest = text[close.upperBound...].drop { $0 == " " || $0 == ":" }
        guard let word = ["fatal error", "error", "warning"].first(where: { rest.hasPrefix($0) }) else { return nil }
        rest = rest.dropFirst(word.count)
        guard let colon = rest.range(ofFirst: ":") else { return nil }
        let rule = rest[..<colon.lowerBound].trimmingPrefix { $0 == " " }.trimmingSuffix { $0 == " " }
        guard rule.isEmpty || isWord(rule) else { return nil }
        var message = rest[colon.upperBound...].trimmingPrefix { $0 == " " }.trimmingSuffix(while: \.isWhitespace)
        // MSBuild adds the project at the end.
        if message.hasSuffix("proj]"), let project = message.range(ofLast: " [") {
            message = message[..<project.lowerBound]
        }
        guard !message.isEmpty, var place = PrintedPlace("\(path):\(numbers[0])") else { return nil }
        place.column = numbers.count > 1 ? TAPLine.number(numbers[1]).flatMap { $0 > 0 ? $0 : nil } : nil
        return LintLine(message: String(message), rule: String(rule), place: place)
    }

    private static func isWord(_ text: Substring, also: String = "") -> Bool {
        !text.isEmpty && text.utf8.count <= 100
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0) || also.contains($0)) }
    }
}
