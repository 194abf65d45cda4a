import Model
import Storage

extension Pages {
    /// For each configuration, the page shows this many files that lost most coverage, and this many with the most lines that no test executed.
    private static let shownFiles = 10

    func show(coverage all: [StoredCoverage], of record: IntegrationRecord, in view: inout ViewObject) {
        view["hasCoverage"] = .flag(!all.isEmpty)
        view["coverage"] = .list(all.map { Self.coverage($0, of: record) })
    }

    private static func coverage(_ stored: StoredCoverage, of record: IntegrationRecord) -> ViewObject {
        let (coverage, delta) = (stored.coverage, stored.delta)
        let lost = (delta?.files ?? []).filter { ($0.points ?? 0) < 0 }
        let least = coverage.files.filter { $0.lines.covered < $0.lines.total }
            .sorted { ($1.lines.total - $1.lines.covered, $0.path) < ($0.lines.total - $0.lines.covered, $1.path) }
        let changed = delta.map { PageText.count($0.files.count, "file") + " changed" }
        let more: [String] = [
            coverage.functions.map { "functions \($0.text)" }, coverage.branches.map { "branches \($0.text)" },
            PageText.count(coverage.files.count, "file"), changed,
        ].compactMap(\.self)
        let (known, points) = (stored.before.map { "#\($0.integration.number)" }, delta?.points)
        return [
            "configuration": .text(stored.attempt.job), "percent": .text(coverage.lines.text),
            "lines": .text("\(coverage.lines.covered) of \(coverage.lines.total) lines"),
            "change": .text(delta?.pointsText), "changeTone": .text(tone(points)),
            "before": .text(known),
            "beforeHref": .text("/bots/\(record.id.bot)/\(stored.before?.integration.number ?? 0)"),
            "more": .text(more.joined(separator: " · ")),
            "api": .text(
                "/api/v1/bots/\(record.id.bot)/integrations/\(record.id.number)/coverage/\(stored.attempt.job)"),
            "hasLost": .flag(!lost.isEmpty), "lostMore": .text(rest(lost.count)),
            "lost": .list(
                lost.prefix(shownFiles).map { file in
                    [
                        "path": .text(file.path), "before": .text(file.before?.text ?? "–"),
                        "after": .text(file.after?.text ?? "–"), "change": .text(file.pointsText ?? ""),
                    ]
                }),
            "hasLeast": .flag(!least.isEmpty), "leastMore": .text(rest(least.count)),
            "least": .list(
                least.prefix(shownFiles).map { file in
                    [
                        "path": .text(file.path), "percent": .text(file.lines.text),
                        "missed": .text(PageText.count(file.lines.total - file.lines.covered, "line")),
                    ]
                }),
        ]
    }

    private static func rest(_ count: Int) -> String? { count > shownFiles ? String(count - shownFiles) : nil }

    private static func tone(_ points: Double?) -> String {
        guard let points, points != 0 else { return "none" }
        return points < 0 ? "bad" : "good"
    }
}
