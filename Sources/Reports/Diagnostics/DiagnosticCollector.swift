import Model

/// A collector of the diagnostics of a log as findings.
struct DiagnosticCollector: Sendable {
    private let root: SourceRoot
    private var lines: [DiagnosticLine] = []
    private var places: [DiagnosticKey: Int] = [:]
    private var errors = 0
    private var warnings = 0
    /// The last diagnostic if it has no place, and its index in `lines`; the index is `nil` if an equal one is already there.
    private var unplaced: (line: DiagnosticLine, index: Int?)?
    /// The indexes in `lines` of diagnostics that turned out to be duplicates.
    private var dropped: Set<Int> = []

    init(root: SourceRoot) { self.root = root }

    /// The values that make two printed diagnostics the same. SwiftPM prints a module's diagnostics when it emits the module and when it compiles the
    /// file. A header's are printed for every file that includes it.
    private struct DiagnosticKey: Hashable {
        var isError: Bool
        var message: String
        var path: String?
        var line: Int?
        var column: Int?
    }

    mutating func consume(_ text: String) {
        if text.hasPrefix(">>> referenced by ") { return reference(text) }
        if let place = LintLines.arrow(text) { return arrow(place) }
        guard var line = DiagnosticLine(text) else { return }
        unplaced = nil
        if let place = line.place {
            // `<unknown>:0` and similar places are no files.
            line.place = place.path.hasPrefix("<") || place.path.hasPrefix("macro expansion") ? nil : place
            line.place?.path = root.shown(place.path)
        }
        line.message = TextLimit.cut(line.message, toBytes: Finding.maximumMessageBytes)
        let key = DiagnosticKey(
            isError: line.isError, message: line.message, path: line.place?.path, line: line.place?.line,
            column: line.place?.column)
        if key.path == nil { unplaced = (line, nil) }
        if let place = places[key] {
            if lines[place].rule.isEmpty { lines[place].rule = line.rule }
            return
        }
        guard (line.isError ? errors : warnings) < DiagnosticReader.maximumFindings else { return }
        if line.isError { errors += 1 } else { warnings += 1 }
        places[key] = lines.count
        if key.path == nil { unplaced = (line, lines.count) }
        lines.append(line)
    }

    /// Gives the previous diagnostic the place in rustc's ` --> src/lib.rs:5:41`. The same text at another place is another diagnostic.
    private mutating func arrow(_ printed: PrintedPlace) {
        guard let (known, index) = unplaced, !known.isConsequence else { return }
        unplaced = nil
        var line = known
        var key = DiagnosticKey(isError: line.isError, message: line.message)
        if index != nil { places[key] = nil }
        line.place = printed
        line.place?.path = root.shown(printed.path)
        (key.path, key.line, key.column) = (line.place?.path, line.place?.line, line.place?.column)
        if places[key] != nil {
            if let index { dropped.insert(index) }
        } else if let index {
            (lines[index], places[key]) = (line, index)
        } else if (line.isError ? errors : warnings) < DiagnosticReader.maximumFindings {
            if line.isError { errors += 1 } else { warnings += 1 }
            places[key] = lines.count
            lines.append(line)
        }
    }

    /// Gives the previous undefined symbol the place in lld's `>>> referenced by main.c:3 (/src/main.c:3)`.
    private mutating func reference(_ text: String) {
        guard let last = lines.indices.last, lines[last].place == nil, lines[last].message.hasPrefix("undefined symbol")
        else { return }
        let rest = text.dropFirst(">>> referenced by ".count)
        var printed = rest.prefix { $0 != " " }
        if let open = rest.firstIndex(of: "("), let close = rest.lastIndex(of: ")"), open < close {
            printed = rest[rest.index(after: open)..<close]
        }
        guard var place = PrintedPlace(printed) else { return }
        place.path = root.shown(place.path)
        lines[last].place = place
    }

    func findings(category: DiagnosticCategory) -> [Finding] {
        var kept = lines.indices.filter { !lines[$0].isConsequence && !dropped.contains($0) }.map { lines[$0] }
        if !kept.contains(where: \.isError), let consequence = lines.first(where: \.isConsequence) {
            kept.append(consequence)
        }
        return kept.map { line in
            Finding(
                category: category == .analyzer ? .analyzerWarning : line.isError ? .error : .warning,
                message: line.message, rule: line.rule, path: line.place?.path, line: line.place?.line,
                column: line.place?.column)
        }
    }
}
