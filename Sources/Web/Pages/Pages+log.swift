import Basics
import Encodings
import Execution
import Hummingbird
import JobProtocol
import Model
import Storage

extension Pages {
    /// The most bytes of a log on one page: 256 KiB or about 3,000 lines, which a browser lays out without delay.
    static let logWindow: Int64 = 256 * 1024

    func log(_ call: AuthorizedRequest) async throws -> Response {
        let record = try await site.integration(of: call)
        let subject = try LogServer.Subject(call)
        let (job, place) = (subject.name, subject.segment)
        let log = try await logs.open(call)
        let part = try await window(of: log, from: call.query("from").flatMap(Int64.init), step: call.query("step"))
        let attempt = call.query("attempt").map { "attempt=\(PercentEncoding.encode($0))&" } ?? ""
        let path = "/bots/\(record.id.bot)/\(record.id.number)/log/\(place)?" + attempt
        func link(_ offset: Int64) -> String { "\(path)from=\(offset)" }
        let isWhole = part.start == 0 && part.end == log.size
        let steps: [ViewObject] = (log.attempt?.steps ?? []).compactMap { step in
            guard let offset = part.stepStarts[step.index] else { return nil }
            return [
                "text": .text(step.name), "href": .text("\(link(offset))#o\(offset)"),
                "isCurrent": .flag(offset == part.start && offset > 0),
            ]
        }
        let range = "\(ByteCount(part.end - part.start)) of \(ByteCount(log.size))"
        return try await page(
            "log", title: "Log of \(record.id) \(job)", section: "bots",
            [
                "bot": .text(record.id.bot), "number": .text(record.id.number), "configuration": .text(job),
                "result": .list(log.attempt.map { [ResultView($0.state).view] } ?? []), "steps": .list(steps),
                "raw": .text("/api/v1/bots/\(record.id.bot)/integrations/\(record.id.number)/log/\(place)?" + attempt),
                "first": .text(isWhole || part.start == 0 ? nil : link(0)),
                "earlier": .text(part.start == 0 ? nil : link(max(0, part.start - Self.logWindow))),
                "later": .text(part.end == log.size ? nil : link(part.end)),
                "last": .text(part.end == log.size ? nil : link(max(0, log.size - Self.logWindow))),
                "range": .text(isWhole ? "\(ByteCount(log.size))" : range), "hasLines": .flag(!part.bytes.isEmpty),
                "lines": .html(Self.lines(part, stepNames: log.attempt?.steps ?? [])),
            ])
    }

    private struct Window: Sendable {
        var bytes: [UInt8]
        var start: Int64
        var end: Int64
        /// The number of the first line shown.
        var firstLine: Int
        var stepStarts: [Int: Int64]
    }

    /// Reads whole lines from about `from` on. If neither `from` nor a step is given, it reads the end of the log, where errors usually are.
    private func window(of log: LogServer.Log, from: Int64?, step: String?) async throws -> Window {
        let state = site.configuration.state
        let stepIndexes = (log.attempt?.steps ?? []).map(\.index)
        return try await site.files.run {
            let index = try LogIndex(directory: Directory(opening: state), path: log.directory + "/log.index")
            var stepStarts: [Int: Int64] = [:]
            for step in stepIndexes { stepStarts[step] = index?.start(ofStep: step) }
            let tail = max(0, log.size - Self.logWindow)
            let wanted = from ?? step.flatMap(Int.init).flatMap { stepStarts[$0] } ?? tail
            var start = max(0, min(wanted, log.size))
            // Lines are counted from the index's preceding record, otherwise from the log's beginning if that is near.
            let record = index?.record(at: start)
            let counted = record.map { Int64(clamping: $0.offset) } ?? (start <= Self.logWindow ? 0 : start)
            let lead = try log.file.read(at: counted, count: Int(min(start - counted, 4 * Self.logWindow)))
            var line = Int(record?.firstLine ?? 1) + lead.count { $0 == UInt8(ascii: "\n") }
            var bytes = try log.file.read(at: start, count: Int(min(Self.logWindow, log.size - start)))
            var previous: [UInt8] = []
            if start > 0 { previous = try log.file.read(at: start - 1, count: 1) }
            if start > 0, previous != [UInt8(ascii: "\n")], let newline = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                bytes.removeFirst(newline + 1)
                start += Int64(newline + 1)
                line += 1
            }
            if start + Int64(bytes.count) < log.size, let newline = bytes.lastIndex(of: UInt8(ascii: "\n")) {
                bytes.removeLast(bytes.count - newline - 1)
            }
            return Window(
                bytes: bytes, start: start, end: start + Int64(bytes.count), firstLine: line, stepStarts: stepStarts)
        }
    }

    private static func lines(_ part: Window, stepNames: [StepRecord]) -> String {
        let names = Dictionary(stepNames.map { ($0.index, $0) }) { first, _ in first }
        var cuts: [(offset: Int64, step: StepRecord)] = part.stepStarts.compactMap { index, offset in
            guard offset >= part.start, offset < part.end, let step = names[index] else { return nil }
            return (offset, step)
        }
        cuts.sort { $0.offset < $1.offset }
        var html = ""
        var number = part.firstLine
        var position = part.start
        func append(upTo end: Int64) {
            let slice = part.bytes[Int(position - part.start)..<Int(end - part.start)]
            for line in TerminalText.lines(of: Array(slice)) {
                html += "<span id=\"L\(number)\"><a href=\"#L\(number)\">\(number)</a>\(line)</span>"
                number += 1
            }
            position = end
        }
        for cut in cuts {
            append(upTo: cut.offset)
            let name = HTMLText.escape(HTMLText.prepared(cut.step.name))
            html += "<b id=\"o\(cut.offset)\">\(cut.step.step.rawValue) · \(name)</b>"
        }
        append(upTo: part.end)
        return html
    }
}
