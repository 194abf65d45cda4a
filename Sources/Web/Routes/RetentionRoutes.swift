import API
import HTTPTypes
import Hummingbird
import Integrations
import Model
import Storage

/// Removes what retention no longer keeps, and explains why the rest stays.
struct RetentionRoutes: Sendable {
    let site: Site

    var routes: [Route] {
        [
            Route(
                .post, "/api/v1/prune", .role(.operator),
                "Removes what retention lets go of, or says what it would: {dryRun, bot}."
            ) { call in
                let wish = try await call.json(API.PruneRequest.self)
                var bot: Name?
                if let text = wish.bot {
                    guard let name = Name(text), try await site.store.bot(name) != nil else {
                        throw Problem(404, "There is no such bot.")
                    }
                    bot = name
                }
                let report = try await site.operations.prune(isDry: wish.dryRun ?? false, bot: bot)
                if wish.dryRun != true {
                    try await site.record(
                        .pruned, by: call, bot: bot, bot?.description ?? "all bots",
                        "\(report.items.count(where: \.goes)) integrations")
                }
                return try .json(API.PruneReport(report))
            }.described(
                "prune", .retention, body: API.PruneRequest.self, example: ["dryRun": true, "bot": "kit"],
                .json(API.PruneReport.self))
        ]
    }
}
