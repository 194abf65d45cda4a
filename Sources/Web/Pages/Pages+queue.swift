import Hummingbird
import Integrations
import Model
import Storage

extension Pages {
    /// Returns the page `/queue`.
    func queue(_ call: AuthorizedRequest) async throws -> Response {
        let forecast = try await site.queue(for: call)
        let now = site.clock()
        let waiting = forecast.waiting.count + forecast.more
        return try await page(
            "queue", title: "Queue", section: "queue", watch: "integration",
            [
                "says": .text(
                    "\(PageText.number(forecast.running.count)) running, \(PageText.number(waiting)) waiting; "
                        + "\(PageText.count(forecast.slots, "job")) at once"),
                "running": .list(forecast.running.map { Self.row($0, now: now, runs: true) }),
                "hasRunning": .flag(!forecast.running.isEmpty),
                "waiting": .list(
                    forecast.waiting.enumerated().map { place, item in
                        var row = Self.row(item, now: now, runs: false)
                        row["place"] = .text(place + 1)
                        return row
                    }),
                "hasWaiting": .flag(!forecast.waiting.isEmpty),
                "isPaused": .flag((forecast.pauses.drain ?? forecast.pauses.service) != nil),
                "pausedBots": .list(
                    forecast.pauses.bots.values.sorted { $0.at < $1.at }.map { pause in
                        [
                            "bot": .text(pause.bot?.description), "words": .text(pause.sentence),
                            "sinceTime": .text(pause.at), "since": .text(PageText.duration(now - pause.at)),
                        ]
                    }),
                "hasPausedBots": .flag(!forecast.pauses.bots.isEmpty),
                "more": .text(forecast.more > 0 ? PageText.number(forecast.more) : nil),
            ])
    }

    private static func row(_ item: QueueForecast.Item, now: Timestamp, runs: Bool) -> ViewObject {
        let integration = item.integration
        let left = item.end.map { $0 - now }
        return [
            "id": .text(integration.id), "href": .text("/bots/\(integration.id.bot)/\(integration.id.number)"),
            "ref": .text(integration.ref.shortName), "subject": .text(integration.subject.map { subject($0) }),
            "commit": .text(integration.headCommit.abbreviated),
            "result": .list([ResultView(integration.state).view]), "reason": .text(item.reason),
            "sinceTime": .text(item.since), "since": .text(PageText.duration(now - item.since)),
            "start": .text(item.start.map { $0 <= now ? "now" : "in about \(PageText.rough($0 - now))" } ?? "unknown"),
            "startTime": .text(item.start.map(\.description)),
            "end": .text(left.map { words(left: $0, runs: runs) } ?? "unknown"),
            "endTime": .text(item.end.map(\.description)), "usual": .text(item.usual.map(PageText.duration)),
            "progress": .list(runs ? progress(of: item, now: now).map { [["percent": .text($0)]] } ?? [] : []),
        ]
    }

    private static func words(left: Duration, runs: Bool) -> String {
        left > .zero
            ? "in about \(PageText.rough(left))" : runs ? "\(PageText.rough(.zero - left)) over the usual time" : "now"
    }

    /// Returns how far a running integration probably is, in percent below 100; `nil` if that is unknown.
    static func progress(of item: QueueForecast.Item, now: Timestamp) -> Int? {
        guard let usual = item.usual, usual > .zero else { return nil }
        return min(99, max(0, Int(clamping: ((now - item.since) / usual * 100).rounded())))
    }
}
