import Model
import Storage

/// The lines of a log as HTML: a part that folds for each step, and in it one element a line.
struct LogMarkup {
    private let shown: Pages.ShownLog
    private let window: LogWindow?
    private let isAtEnd: Bool
    private let now: Timestamp
    private var marks: [Int: LogPlace] = [:]

    /// - Parameters:
    ///   - window: The lines; `nil` if there is no log yet.
    ///   - isAtEnd: Whether the last line is the log's. Steps that began and have not printed follow it.
    init(_ shown: Pages.ShownLog, _ window: LogWindow?, isAtEnd: Bool, now: Timestamp) {
        (self.shown, self.window, self.isAtEnd, self.now) = (shown, window, isAtEnd, now)
        for place in shown.places where marks[place.line]?.isFailure != true { marks[place.line] = place }
    }

    /// The HTML. Every text from the log or the recipe in it is escaped.
    var html: String {
        let steps = shown.row.attempt?.steps ?? []
        var html = ""
        var last = -1
        let sections = window?.sections ?? []
        let asked = shown.line.flatMap { line in sections.lastIndex { $0.firstLine <= line } }
        for (number, section) in sections.enumerated() {
            let step = section.step.flatMap { index in steps.first { $0.index == index } }
            html += part(
                step, index: section.step, isContinued: section.isContinued,
                lines(section, marking: number == asked ? shown.line : nil))
            last = section.step ?? last
        }
        guard isAtEnd, window.map({ $0.sections.isEmpty || last >= 0 }) ?? true else { return html }
        for step in steps where step.index > last { html += part(step, index: step.index, isContinued: false, "") }
        return html
    }

    /// Returns the part of one step, open.
    private func part(_ step: StepRecord?, index: Int?, isContinued: Bool, _ lines: String) -> String {
        guard let step else {
            // A trigger has no steps, nor has a log whose index is missing.
            return "<div class=\"step\" id=\"s\(index ?? 0)\"><pre>\(lines)</pre></div>"
        }
        let name = HTMLText.escape(HTMLText.prepared(step.name))
        return
            "<details class=\"step\" id=\"s\(step.index)\" open><summary><span class=\"name\">\(step.step.rawValue) · \(name)</span>"
            + (isContinued ? " <span class=\"quiet\">continued</span>" : "") + end(of: step)
            + "</summary><pre>\(lines)</pre></details>"
    }

    private func end(of step: StepRecord) -> String {
        let took = PageText.duration((step.endedAt ?? now) - step.startedAt)
        guard step.endedAt != nil else { return " <span class=\"end busy\">running, \(took)</span>" }
        if step.exit == 0, step.limit == nil { return " <span class=\"end\">\(took)</span>" }
        let reason =
            step.limit.map { "limit: \($0)" } ?? step.signal.map { "signal \($0)" }
            ?? "exit \(step.exit.map(String.init) ?? "?")"
        return " <span class=\"end bad\">\(HTMLText.escape(HTMLText.prepared(reason))), \(took)</span>"
    }

    /// - Parameter asked: The line that was asked for, if it is one of the section.
    private func lines(_ section: LogWindow.Section, marking asked: Int?) -> String {
        let lines = TerminalText.lines(of: section.bytes[...], firstLine: section.firstLine, lead: section.lead)
        // The line that was asked for, or the one before it if a later line of the log replaced it.
        let wanted = asked.flatMap { line in lines.last { ($0.number ?? .max) <= line }?.number }
        var html = ""
        html.reserveCapacity(lines.count * 80)
        for line in lines {
            guard let number = line.number else {
                html += "<span>\(line.html)</span>"
                continue
            }
            let mark = marks[number]
            var classes: [String] = []
            if let mark { classes.append(mark.isFailure ? "m bad" : "m warn") }
            if number == wanted { classes.append("at") }
            html +=
                "<span id=\"L\(number)\"" + (classes.isEmpty ? "" : " class=\"\(classes.joined(separator: " "))\"")
                + ">"
            html += "<a href=\"#L\(number)\" tabindex=\"-1\">\(number)</a>"
            if let mark { html += Self.label(mark) }
            html += time(of: number) + line.html + "</span>"
        }
        return html
    }

    /// Returns the sign of a marked line, whose title says what is there.
    private static func label(_ mark: LogPlace) -> String {
        let text = HTMLText.escape(HTMLText.prepared("\(ResultView(mark.category).word): \(mark.key.subject)"))
        return "<b title=\"\(text)\">\(mark.isFailure ? "✗" : "!")<span class=\"hidden\"> \(text): </span></b>"
    }

    /// Returns the time of day at which a line was printed, in UTC; empty unless the page shows times.
    private func time(of number: Int) -> String {
        guard let window, window.times.indices.contains(number - window.firstLine) else { return "" }
        let milliseconds = window.times[number - window.firstLine]
        let seconds = milliseconds / 1000 % 86_400
        func two(_ number: UInt64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "<time>\(two(seconds / 3600)):\(two(seconds / 60 % 60)):\(two(seconds % 60))</time>"
    }
}
