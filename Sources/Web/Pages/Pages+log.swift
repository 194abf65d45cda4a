import Basics
import Encodings
import Hummingbird
import Model
import Storage

extension Pages {
    /// A log that a page shows, with what its links need.
    struct ShownLog: Sendable {
        var id: IntegrationID
        var subject: LogServer.Subject
        var row: LogServer.LogRow
        /// The lines that findings and failing tests are about, in their order.
        var places: [LogPlace]
        var withTimes: Bool
        /// The text that was searched for; empty if none was.
        var query: String
        /// The line that was asked for, by its number.
        var line: Int?

        /// The path of the page.
        var path: String { "/bots/\(id.bot)/\(id.number)/log/\(subject.segment)" }

        /// Returns a link to the page of this attempt.
        func link(_ query: String, keepsSearch: Bool = true) -> String {
            var parts = ["attempt=\(row.number)"]
            if withTimes { parts.append("times") }
            if keepsSearch, !self.query.isEmpty { parts.append("q=\(PercentEncoding.encode(self.query))") }
            return "\(path)?" + (parts + (query.isEmpty ? [] : [query])).joined(separator: "&")
        }

        func link(toLine line: Int) -> String { link("line=\(line)") + "#L\(line)" }
    }

    func log(_ call: AuthorizedRequest) async throws -> Response {
        let record = try await site.integration(of: call)
        let subject = try LogServer.Subject(call)
        guard let row = try await logs.row(of: record.id, subject, attempt: call.query("attempt")) else {
            throw Problem(
                404, "\(record.id) has no such job, trigger or attempt; `martlet show \(record.id)` lists them.")
        }
        var places: [LogPlace] = []
        if let attempt = row.attempt { places = try await site.store.logPlaces(of: attempt.id) }
        let shown = ShownLog(
            id: record.id, subject: subject, row: row, places: places, withTimes: try call.flag("times"),
            query: try Self.searchedText(call) ?? "", line: call.query("line").flatMap(Int.init))
        let log = try await logs.open(row)
        var (answer, note): (LogSearch.Answer?, String?) = (nil, nil)
        if let log {
            if let wanted = call.query("find") {
                if let line = try await errorLine(wanted, in: log, shown) { return .found(shown.link(toLine: line)) }
                note = "No line looks like an error."
            }
            if !shown.query.isEmpty {
                let from = call.query("after").flatMap(Int.init) ?? 1
                answer = try await search(log, for: shown.query, from: from)
            }
        }
        var window: LogWindow?
        if let log {
            let (state, steps) = (site.configuration.state, row.attempt?.steps.map(\.index) ?? [])
            let place = Self.place(call)
            window = try await site.files.run {
                try LogWindow(of: log, in: state, at: place, steps: steps, withTimes: shown.withTimes)
            }
        }
        var view = frame(shown, window, size: log?.size ?? 0)
        view["note"] = .text(note)
        view.merge(Self.found(answer, in: shown))
        return try await page("log", title: "Log of \(record.id) \(subject.name)", section: "bots", view)
    }

    /// Returns `?q=`, the text to search for; `nil` without one.
    /// - Throws: 400 for a longer one than `LogSearch.maximumBytes`.
    static func searchedText(_ call: AuthorizedRequest) throws(Problem) -> String? {
        guard let text = call.query("q") else { return nil }
        guard text.utf8.count <= LogSearch.maximumBytes else {
            throw Problem(400, "`q` is a text of at most \(LogSearch.maximumBytes) bytes.")
        }
        return text
    }

    private func search(_ log: LogServer.Log, for text: String, from line: Int) async throws -> LogSearch.Answer {
        let state = site.configuration.state
        return try await site.files.run {
            try LogSearch(text, in: LogSearch.reader(of: log, in: state)).find(from: line)
        }
    }

    /// Returns where a page begins: `?since=`, `?line=`, `?from=` or `?step=`, otherwise the end of the log.
    private static func place(_ call: AuthorizedRequest) -> LogWindow.Place {
        if let line = call.query("since").flatMap(Int.init) { return .since(line) }
        if let line = call.query("line").flatMap(Int.init) { return .line(line) }
        if let offset = call.query("from").flatMap(Int64.init) { return .offset(offset) }
        if let step = call.query("step").flatMap(Int.init) { return .step(step) }
        return .end
    }

    /// Finds the line of an error: `first`, or `next` or `previous` from `line` on. Errors that were read from reports and the log come first; only
    /// where there is none, lines with the words of errors count.
    private func errorLine(_ wanted: String, in log: LogServer.Log, _ shown: ShownLog) async throws -> Int? {
        let line = shown.line ?? 0
        let known = shown.places.filter(\.isFailure).map(\.line)
        if !known.isEmpty {
            switch wanted {
            case "next": return known.first { $0 > line }
            case "previous": return known.last { $0 < line }
            default: return known.first
            }
        }
        let state = site.configuration.state
        return try await site.files.run {
            let search = LogSearch(errorsIn: try LogSearch.reader(of: log, in: state))
            switch wanted {
            case "next": return try search.find(from: line + 1, limit: 1).hits.first?.line
            case "previous": return try search.last(before: line)?.line
            default: return try search.find(from: 1, limit: 1).hits.first?.line
            }
        }
    }

    // MARK: The view

    private func frame(_ shown: ShownLog, _ window: LogWindow?, size: Int64) -> ViewObject {
        let (row, id) = (shown.row, shown.id)
        let steps: [ViewObject] = (row.attempt?.steps ?? []).compactMap { step in
            guard let start = window?.stepStarts[step.index] else { return nil }
            return [
                "text": .text(step.name), "href": .text(shown.link("step=\(step.index)") + "#s\(step.index)"),
                "isCurrent": .flag(start == window?.start && start > 0),
            ]
        }
        let (start, end) = (window?.start ?? 0, window?.end ?? 0)
        let isWhole = start == 0 && end == size
        let failed = row.attempt.map { $0.state.verdict.map { $0 > .succeeded } ?? true } ?? true
        let isRunning = !row.isEnded
        let lines = window.map { "lines \($0.firstLine.grouped) to \($0.lastLine.grouped), " } ?? ""
        return [
            "bot": .text(id.bot), "number": .text(id.number), "configuration": .text(shown.subject.name),
            "result": .list(row.attempt.map { [ResultView($0.state).view] } ?? []), "steps": .list(steps),
            "hasSteps": .flag(steps.count > 1), "path": .text(shown.path), "attempt": .text(row.number),
            "raw": .text(
                "/api/v1/bots/\(id.bot)/integrations/\(id.number)/log/\(shown.subject.segment)?attempt=\(row.number)"),
            "first": .text(start == 0 ? nil : shown.link("from=0")),
            "earlier": .text(start == 0 ? nil : shown.link("from=\(max(0, start - LogWindow.maximumBytes))")),
            "later": .text(end == size ? nil : shown.link("from=\(end)")),
            "last": .text(end == size && !isRunning ? nil : shown.link("")),
            "times": .text(shown.withTimes ? Self.without(times: shown, start) : shown.link("times&from=\(start)")),
            "hasTimes": .flag(shown.withTimes), "query": .text(shown.query),
            "firstError": .text(failed && size > 0 ? shown.link("find=first") : nil),
            "previousError": .text(failed ? shown.line.map { shown.link("find=previous&line=\($0)") } : nil),
            "nextError": .text(failed ? shown.line.map { shown.link("find=next&line=\($0)") } : nil),
            "range": .text(isWhole ? "\(ByteCount(size))" : "\(lines)\(ByteCount(end - start)) of \(ByteCount(size))"),
            "hasLines": .flag(end > start || isRunning), "empty": .text(row.isEnded ? "Nothing was printed." : nil),
            "terminal": true, "isRunning": .flag(isRunning),
            "live": .text(isRunning ? "\(id.bot)/\(id.number)/\(shown.subject.segment)/\(row.number)" : nil),
            "firstLine": .text(window?.firstLine ?? 1), "isAtEnd": .flag(end == size),
            "lines": .html(LogMarkup(shown, window, isAtEnd: end == size, now: site.clock()).html),
        ]
    }

    private static func without(times shown: ShownLog, _ start: Int64) -> String {
        var shown = shown
        shown.withTimes = false
        return shown.link("from=\(start)")
    }

    /// Shows what a search found.
    private static func found(_ answer: LogSearch.Answer?, in shown: ShownLog) -> ViewObject {
        guard let answer else { return [:] }
        let count = answer.hits.count
        let more = answer.next == nil ? "" : " and more"
        return [
            "hasSearch": true,
            "found": .text(
                count == 0 && answer.next == nil
                    ? "No line has “\(shown.query)”." : "\(count.counting("line"))\(more) with “\(shown.query)”"),
            "hits": .list(
                answer.hits.map { hit in
                    [
                        "line": .text(hit.line), "href": .text(shown.link(toLine: hit.line)),
                        "html": .html(TerminalText.plain(hit.text)),
                    ]
                }),
            "moreHits": .text(answer.next.map { shown.link("after=\($0)") }),
        ]
    }
}
