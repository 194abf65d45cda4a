import Model

/// One report of a sanitizer, read line by line.
struct SanitizerReport: Sendable {
    /// The tool's name: `AddressSanitizer`.
    private var tool: String
    /// The kind of defect: `heap-use-after-free`.
    private var kind: String
    /// The rest of the first line.
    private var detail = ""
    /// A place in the first line, which the undefined-behavior sanitizer prints.
    private var place: PrintedPlace?
    private var lines: [String] = []
    /// Whether it has more than a sanitizer's first line: a stack, or a summary. A quoted report seldom has that.
    private(set) var isSupported = false

    /// The most lines that are kept. The first stack is the most important part of a report.
    private static let maximumLines = 400
    /// The most bytes of a line; longer ones are cut.
    private static let maximumLineBytes = 1000

    /// Parses a first line such as one of these; fails for other lines:
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
            // The undefined-behavior sanitizer may print only this line.
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

    /// Reads the next line.
    /// - Returns: Whether the line belongs to the report.
    mutating func consume(_ text: String) -> Bool {
        if text.hasPrefix("SUMMARY: ") { isSupported = true }
        if text.hasPrefix("SUMMARY: ") || lines.count >= Self.maximumLines { return false }
        if SanitizerFrame(text) != nil { isSupported = true }
        if tool == "UndefinedBehaviorSanitizer" {
            // The next lines are the source line, its marker and possibly a stack.
            guard text.hasPrefix(" ") || text.hasPrefix("\t") || lines.isEmpty else { return false }
        }
        lines.append(TextLimit.cut(text, toBytes: Self.maximumLineBytes))
        return true
    }

    func findings(root: SourceRoot) -> [Finding] {
        if tool == "LeakSanitizer" || kind == "detected-memory-leaks" { return leaks(root: root) }
        return [finding(kind: kind, title: Self.withoutAddresses(detail), lines: lines[...], root: root)]
    }

    /// Returns a finding for each leak, which begins with `Direct leak of 7 byte(s) in 1 object(s) allocated from:` and has a stack.
    private func leaks(root: SourceRoot) -> [Finding] {
        let starts = lines.indices.filter {
            lines[$0].hasPrefix("Direct leak of ") || lines[$0].hasPrefix("Indirect leak of ")
        }
        guard !starts.isEmpty else {
            return [finding(kind: "memory-leak", title: detail, lines: lines[...], root: root)]
        }
        // Indirect leaks are left out if there are direct ones, since they belong to those.
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
                // A relative path belongs to a system library: for the program's own files, debug information contains the directory.
                let relative = frame.place.flatMap { $0.path.hasPrefix("/") ? root.relative($0.path) : nil }
                TextLimit.append("\n    #\(frame.number) \(frame.function)", to: &text)
                if let place = frame.place {
                    let number = place.line.map { ":\($0)" + (place.column.map { ":\($0)" } ?? "") } ?? ""
                    TextLimit.append(" " + root.shown(place.path) + number, to: &text)
                }
                // A frame with a line is preferred to one of which only the file is known.
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

    /// Returns the kind in a first line: `heap-use-after-free on address …` gives `heap-use-after-free`, and `Swift access race (pid=1)` gives
    /// `Swift-access-race`.
    private static func kind(_ text: Substring) -> String {
        var rest = text
        for mark in [" on address", " on unknown address", " (", ": ", " 0x"] as [StaticString] {
            if let range = rest.range(ofFirst: mark) { rest = rest[..<range.lowerBound] }
        }
        let words = rest.split(separator: " ").prefix(6)
        return words.isEmpty ? "error" : TextLimit.cut(words.joined(separator: "-"), toBytes: 100)
    }

    /// Returns the kind in a text: `signed integer overflow: 1 + 2 cannot …` gives `signed-integer-overflow`. Words with numbers are left out.
    private static func undefinedKind(_ detail: String) -> String {
        let head = detail.prefix { $0 != ":" && $0 != "'" }
        let words = head.split(separator: " ").filter { word in !word.contains(where: \.isNumber) }.prefix(5)
        return words.isEmpty ? "undefined-behavior" : TextLimit.cut(words.joined(separator: "-"), toBytes: 100)
    }

    /// Returns a text without addresses, processes and threads, which differ from run to run: `0x7b93…` becomes `0x…`, and `(pid=1)` is removed.
    private static func withoutAddresses(_ text: String) -> String {
        guard text.has("0x") || text.has("id=") else { return text }
        let hasCounter = text.has(" pc 0x")
        var words: [Substring] = []
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            if word.hasPrefix("(pid=") || word.hasPrefix("(tid=") || word == "pc" || word == "bp" || word == "sp" {
                continue
            }
            if let hex = word.range(ofFirst: "0x") {
                // `at pc 0x… bp 0x… sp 0x…` does not help the reader.
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
