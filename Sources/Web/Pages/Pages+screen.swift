import Hummingbird
import Integrations
import Model
import Storage

extension Pages {
    /// The most bots of the big screen.
    private static let maximumTiles = 100
    /// How long a group of tiles is shown, in seconds.
    private static let cycles = (usual: 20, longest: 3600)

    /// Returns the page `/screen`: a tile for each bot, with the state of the branch that stands for it.
    func screen(_ call: AuthorizedRequest) async throws -> Response {
        let cycle = try call.number("cycle", 0...Self.cycles.longest) ?? Self.cycles.usual
        let wanted = (call.query("bots") ?? "").split(separator: ",").map(String.init)
        let bots = try await site.store.botOverviews(branches: 1).filter { !$0.isRetired && call.shows($0.name) }
        let known = Dictionary(bots.map { ($0.name.description, $0) }) { first, _ in first }
        let shown = wanted.isEmpty ? bots : wanted.compactMap { known[$0] }
        let missing = wanted.filter { known[$0] == nil }
        let now = site.clock()
        let running = Dictionary(
            try await site.operations.queueForecast().running.map { ($0.integration.id, $0) }
        ) { first, _ in first }
        return try await page(
            "screen", title: "Big screen", section: "bots", watch: "integration",
            [
                "cycle": .text(cycle),
                "tiles": .list(
                    shown.prefix(Self.maximumTiles).map { bot in
                        let current = bot.branches.first.map {
                            IntegrationID(bot: bot.name, number: $0.current.number)
                        }
                        return Self.tile(bot, running: current.flatMap { running[$0] }, now: now)
                    }), "hasTiles": .flag(!shown.isEmpty),
                "missing": .text(missing.isEmpty ? nil : missing.prefix(10).joined(separator: ", ")),
            ])
    }

    private static func tile(_ bot: BotOverview, running: QueueForecast.Item?, now: Timestamp) -> ViewObject {
        guard let branch = bot.branches.first else {
            return [
                "name": .text(bot.name), "href": .text("/bots/\(bot.name)"), "tone": "none", "word": "No results yet",
                "icon": .html(ResultView.dots),
            ]
        }
        let shown = branch.last ?? branch.current
        let view = ResultView(shown.state, isSkipped: shown.isSkipped)
        let isUnderWay = branch.current.state.verdict == nil
        let current = ResultView(branch.current.state)
        let percent = running.flatMap { progress(of: $0, now: now) }
        return [
            "name": .text(bot.name), "href": .text("/bots/\(bot.name)/\(shown.number)"),
            "ref": .text(branch.ref.shortName),
            "tone": .text(view.tone.rawValue), "word": .text(view.word.replacing("-", with: " ")),
            "icon": .html(view.icon),
            "counts": .text(counts(shown.summary)), "number": .text("#\(shown.number)"),
            "subject": .text(subject(shown.subject)), "when": .text(PageText.age(shown.queuedAt, now: now)),
            "now": .text(isUnderWay ? "#\(branch.current.number) \(current.word)" : nil),
            "percents": .list(isUnderWay ? percent.map { [["percent": .text($0)]] } ?? [] : []),
            "lookError": .flag(bot.lookError != nil),
        ]
    }

    /// Returns the counts that somebody across a room has to know: `4 tests fail, 2 errors`; `nil` if there are none.
    private static func counts(_ summary: Summary?) -> String? {
        guard let summary else { return nil }
        let (counts, failing) = (summary.counts, summary.failingTestCount)
        let parts = [
            counts.errors > 0 ? PageText.count(counts.errors, "error") : nil,
            failing > 0 ? "\(PageText.count(failing, "test")) \(failing == 1 ? "fails" : "fail")" : nil,
            counts.warnings + counts.analyzerWarnings > 0
                ? PageText.count(counts.warnings + counts.analyzerWarnings, "warning") : nil,
        ].compactMap(\.self)
        return parts.isEmpty
            ? (summary.testCount > 0 ? PageText.count(summary.testCount, "test") : nil) : parts.joined(separator: ", ")
    }
}
