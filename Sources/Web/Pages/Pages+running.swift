import Basics
import Execution
import Model
import Storage

/// What a running integration does: the last lines of its jobs, their tests so far, and the time that is left.
extension Pages {
    /// How many of the last lines of a job are shown.
    static let tailLines = 8
    /// The bytes from the end of a log in which these are.
    static let tailBytes: Int64 = 16 * 1024
    /// How many earlier integrations of the branch tell how long one takes.
    static let estimatedFrom = 20

    /// Adds what is running to the page of an integration. The page of a completed integration stays as it is.
    func show(running attempts: [AttemptRecord], of record: IntegrationRecord, in view: inout ViewObject) async throws {
        // A page that is open when its integration begins to run gets no further style sheet.
        view["terminal"] = .flag(record.state.word != "completed")
        guard record.state.word == "running" else { return }
        var jobs: [ViewObject] = []
        for attempt in attempts where attempt.state.verdict == nil && attempt.startedAt != nil {
            try await jobs.append(job(attempt, of: record.id))
        }
        view["running"] = .list([["jobs": .list(jobs), "left": .text(try await left(of: record))]])
    }

    private func job(_ attempt: AttemptRecord, of id: IntegrationID) async throws -> ViewObject {
        let directory = "integrations/\(id.bot)/\(id.number)/\(attempt.id.job)/\(attempt.id.attempt)"
        let state = site.configuration.state
        let step = attempt.steps.last
        let isTesting = step?.step == .testing
        let (lines, tests) = try await site.files.run { () throws -> ([TerminalText.Line], TestsSoFar) in
            guard let log = try AttemptLog.open(in: state + "/" + directory) else { return ([], TestsSoFar()) }
            let from = max(0, log.size - Self.tailBytes)
            var bytes = try log.read(at: from, count: Int(log.size - from))[...]
            if from > 0, let feed = bytes.firstIndex(of: UInt8(ascii: "\n")) { bytes = bytes[(feed + 1)...] }
            var tests = TestsSoFar()
            if isTesting, let step,
                let index = try LogIndex(directory: Directory(opening: state), path: directory + "/log.index"),
                let start = index.start(ofStep: step.index)
            {
                tests = try TestsSoFar(in: log, from: start)
            }
            return (TerminalText.lines(of: bytes).suffix(Self.tailLines), tests)
        }
        let counted = tests.passed + tests.failed
        return [
            "name": .text(attempt.id.job), "step": .text(step.map { "\($0.step.rawValue) · \($0.name)" } ?? "starting"),
            "tests": .text(
                counted == 0
                    ? nil : counted.counting("test") + " so far" + (tests.failed > 0 ? ", \(tests.failed) failed" : "")),
            "href": .text("\(Self.href(id))/log/\(attempt.id.job)?attempt=\(attempt.id.attempt)"),
            "hasLines": .flag(!lines.isEmpty),
            "lines": .html(lines.map { "<span>\($0.html)</span>" }.joined()),
        ]
    }

    /// Returns how long the integration is likely to take from now on, by the median of the branch's last ones.
    private func left(of record: IntegrationRecord) async throws -> String {
        guard let start = record.startedAt else { return "" }
        let so = site.clock() - start
        let page = try await site.store.integrations(
            IntegrationFilter(bot: record.id.bot, state: "completed", ref: record.ref), limit: Self.estimatedFrom)
        let durations = page.items.filter { !$0.isSkipped && $0.state.verdict != .canceled }.compactMap { other in
            other.startedAt.flatMap { start in other.endedAt.map { $0 - start } }
        }.sorted()
        guard !durations.isEmpty else { return "for \(PageText.duration(so))" }
        let median = durations[(durations.count - 1) / 2]
        if median > so {
            return
                "about \(PageText.duration(median - so)) left, by the branch's last \(durations.count.counting("integration"))"
        }
        return "for \(PageText.duration(so)); usually \(PageText.duration(median))"
    }
}
