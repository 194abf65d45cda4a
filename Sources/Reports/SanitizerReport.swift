import Model

/// One report of a sanitizer, gathered line by line.
struct SanitizerReport: Sendable {
    /// `AddressSanitizer`
    private var tool: String
    /// `heap-use-after-free`
    private var kind: String
    /// What the first line says besides.
    private var detail = ""
    /// A place that the first line names itself, as the undefined-behaviour sanitizer's does.
    private var place: PrintedPlace?
    private var lines: [String] = []
    /// Whether it has more than a sanitizer's first line: a stack, or a summary. A quotation seldom has that.
    private(set) var isSupported = false

    /// Longer ones are cut: of a report the first stack says most.
    private static let maximumLines = 400
    /// Of a line; longer ones are cut.
    private static let maximumLineBytes = 1000

    /// - `==123==ERROR: AddressSanitizer: heap-use-after-free on address 0x… at pc …`
    /// - `WARNING: ThreadSanitizer: data race (pid=18160)`
    /// - `==7==ERROR: LeakSanitizer: detected memory leaks`
    /// - `a.c:3:4: runtime error: signed integer overflow: …`
    init?(beginning line: String) {
        let text = TextLimit.cut(line, toBytes: Self.maximumLineBytes)
        if let range = text.range(ofFirst: ": runtime error: ") {
            guard let place = PrintedPlace(text[..<range.lowerBound]), !place.path.contains(where: \.isWhitespace)
            else {
                return nil
            }
            self.place = place
            tool = "UndefinedBehaviorSanitizer"
            // It may print no more than this line.
            isSupported = true
            detail = String(text[range.upperBound...])
            kind = Self.undefinedKind(detail)
            return
        }
        guard let range = text.range(ofFirst: "Sanitizer: ") ?? text.range(ofFirst: "Sanitizer:DEADLYSIGNAL") else {
            return nil
        }
        let head = text[..<range.lowerBound]
        guard let mark = head.range(ofLast: "ERROR: ") ?? head.range(ofLast: "WARNING: "),
            head[..<mark.lowerBound].allSatisfy({ $0 == "=" || $0.isNumber })
        else { return nil }
        let name = head[mark.upperBound...]
        guard !name.isEmpty, name.utf8.count < 30, name.allSatisfy(\.isLetter) else { return nil }
        tool = name + "Sanitizer"
        let rest = text[range.upperBound...]
        kind = Self.kind(rest)
        detail = String(rest)
    }

    /// - Returns: Whether the line is still of the report.
    mutating func take(_ text: String) -> Bool {
        if text.hasPrefix("SUMMARY: ") { isSupported = true }
        if text.hasPrefix("SUMMARY: ") || lines.count >= Self.maximumLines { return false }
        if SanitizerFrame(text) != nil { isSupported = true }
        if tool == "UndefinedBehaviorSanitizer" {
            // What follows are the source line, its mark and perhaps a stack.
            guard text.hasPrefix(" ") || text.hasPrefix("\t") || lines.isEmpty else { return false }
        }
        lines.append(TextLimit.cut(text, toBytes: Self.maximumLineBytes))
        return true
    }

    func findings(root: SourceRoot) -> [Finding] {
        if tool == "LeakSanitizer" || kind == "detected-memory-leaks" { return leaks(root: root) }
        return [finding(kind: kind, title: Self.withoutAddresses(detail), lines: lines[...], root: root)]
    }

    /// A leak each: `Direct leak of 7 byte(s) in 1 object(s) allocated from:` and its stack.
    private func leaks(root: SourceRoot) -> [Finding] {
        let starts = lines.indices.filter {
            lines[$0].hasPrefix("Direct leak of ") || lines[$0].hasPrefix("Indirect leak of ")
        }
        guard !starts.isEmpty else {
            return [finding(kind: "memory-leak", title: detail, lines: lines[...], root: root)]
        }
        // What is lost with something else is said with it.
        let direct = starts.filter { lines[$0].hasPrefix("Direct") }
        return (direct.isEmpty ? starts : direct).map { start in
            let end = starts.first { $0 > start } ?? lines.endIndex
            return finding(kind: "memory-leak", title: lines[start], lines: lines[(start + 1)..<end], root: root)
        }
    }

    private func finding(kind: String, title: String, lines: ArraySlice<String>, root: SourceRoot) -> Finding {
        var text = title
        var found: (path: String, line: Int?, column: Int?)?
        for line in lines {
            if let frame = SanitizerFrame(line) {
                // A relative path is a system library's: debuggers join the programs' own with their directory.
                let relative = frame.place.flatMap { $0.path.hasPrefix("/") ? root.relative($0.path) : nil }
                TextLimit.append("\n    #\(frame.number) \(frame.function)", to: &text)
                if let place = frame.place {
                    let number = place.line.map { ":\($0)" + (place.column.map { ":\($0)" } ?? "") } ?? ""
                    TextLimit.append(" " + root.shown(place.path) + number, to: &text)
                }
                // A frame with a line is better than one of which only the file is known.
                guard let relative, found == nil || (found?.line == nil && frame.place?.line != nil) else { continue }
                found = (relative, frame.place?.line, frame.place?.column)
            } else if !line.allSatisfy({ $0 == "=" || $0 == "^" || $0.isWhitespace || $0.isHexDigit }) {
                TextLimit.append("\n" + Self.withoutAddresses(line), to: &text)
            }
        }
        if let place { found = (root.shown(place.path), place.line, place.column) }
        return Finding(
            category: .analyzerWarning, message: TextLimit.cut(text, toBytes: Finding.maximumMessageBytes),
            rule: TextLimit.cut(tool + "." + kind, toBytes: TextLimit.nameBytes), path: found?.path, line: found?.line,
            column: found?.column)
    }

    /// `heap-use-after-free on address …` is `heap-use-after-free`; `Swift access race (pid=1)` is `Swift-access-race`.
    private static func kind(_ text: Substring) -> String {
        var rest = text
        for mark in [" on address", " on unknown address", " (", ": ", " 0x"] as [StaticString] {
            if let range = rest.range(ofFirst: mark) { rest = rest[..<range.lowerBound] }
        }
        let words = rest.split(separator: " ").prefix(6)
        return words.isEmpty ? "error" : TextLimit.cut(words.joined(separator: "-"), toBytes: 100)
    }

    /// `signed integer overflow: 1 + 2 cannot …` is `signed-integer-overflow`; what has no colon is cut at its numbers.
    private static func undefinedKind(_ detail: String) -> String {
        let head = detail.prefix { $0 != ":" && $0 != "'" }
        let words = head.split(separator: " ").filter { word in !word.contains(where: \.isNumber) }.prefix(5)
        return words.isEmpty ? "undefined-behavior" : TextLimit.cut(words.joined(separator: "-"), toBytes: 100)
    }

    /// Addresses, processes and threads differ from run to run: `0x7b93…` is `0x…`, `(pid=1)` is dropped.
    private static func withoutAddresses(_ text: String) -> String {
        guard text.has("0x") || text.has("id=") else { return text }
        let hasCounter = text.has(" pc 0x")
        var words: [Substring] = []
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            if word.hasPrefix("(pid=") || word.hasPrefix("(tid=") || word == "pc" || word == "bp" || word == "sp" {
                continue
            }
            if let hex = word.range(ofFirst: "0x") {
                // `at pc 0x… bp 0x… sp 0x…` is useless to readers.
                if words.last == "at", hex.lowerBound == word.startIndex, words.count > 1, hasCounter {
                    words.removeLast()
                    break
                }
                words.append(word[..<hex.lowerBound] + "0x…")
            } else {
                words.append(word)
            }
        }
        return words.joined(separator: " ")
    }
}
