import API
import HTTPTypes
import Hummingbird
import Integrations
import Model
import Storage

/// `/api/v1/queue`: what runs and what waits.
struct QueueRoutes: Sendable {
    let site: Site

    var routes: [Route] {
        [
            Route(.get, "/api/v1/queue", .read, "What runs and what waits, in order, with reasons and estimates.") {
                call in
                try .json(API.Queue(await site.queue(for: call), root: site.configuration.url))
            }.described("getQueue", .integrations, .json(API.Queue.self)).reaching(.listing)
        ]
    }
}

extension Site {
    /// Returns what runs and what waits of the bots that a caller may read.
    func queue(for call: AuthorizedRequest) async throws -> QueueForecast {
        var forecast = try await operations.queueForecast()
        guard call.bots != nil else { return forecast }
        forecast.running.removeAll { !call.shows($0.integration.id.bot) }
        forecast.waiting.removeAll { !call.shows($0.integration.id.bot) }
        forecast.pauses.bots = forecast.pauses.bots.filter { call.shows($0.key) }
        // Those beyond the forecast's limit are of unknown bots.
        forecast.more = 0
        return forecast
    }
}

extension API.Queue {
    init(_ forecast: QueueForecast, root: String?) {
        self.init(
            running: forecast.running.map { API.QueuedIntegration($0, root: root) },
            waiting: forecast.waiting.map { API.QueuedIntegration($0, root: root) }, more: forecast.more,
            slots: forecast.slots, pauses: forecast.pauses.all.map { API.Pause($0) })
    }
}

extension API.QueuedIntegration {
    init(_ item: QueueForecast.Item, root: String?) {
        self.init(
            integration: API.Integration(item.integration, root: root), reason: item.reason,
            since: API.Time(item.since),
            start: API.Time(item.start), end: API.Time(item.end), usual: item.usual?.seconds)
    }
}
