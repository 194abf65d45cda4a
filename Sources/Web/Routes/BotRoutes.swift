import API
import Forges
import HTTPTypes
import Hummingbird
import Integrations
import Model
import Storage

/// `/api/v1/bots…`: lists the bots and accepts requests for them.
struct BotRoutes: Sendable {
    let site: Site

    private static let filters: [QueryParameter] = [
        .word("state", "Only integrations in this state.", ["queued", "running", "completed"]),
        .text("ref", "Only this branch, or this full name of a ref.", example: "main"),
        QueryParameter(
            name: "commit", text: "Only this commit, by its full id.", schema: .string,
            pattern: "^([0-9a-f]{40}|[0-9a-f]{64})$"), .limit(), .before,
    ]

    var routes: [Route] {
        [
            Route(.get, "/api/v1/bots", .read, "All bots, each with its latest integration.") { call in
                let overview = await site.operations.overview()
                let specifications = Dictionary(overview.bots.map { ($0.name, $0) }) { first, _ in first }
                let pauses = try await site.store.pauses()
                var items: [API.Bot] = []
                for bot in try await site.store.bots() where call.shows(bot.name) {
                    items.append(await shown(bot, specifications[bot.name], pauses))
                }
                return try .json(
                    API.BotList(
                        items: items, next: nil, problems: call.bots == nil ? overview.problems : [],
                        isolation: overview.isolation.word,
                        isolationReason: overview.isolation.reason, loopbackReason: overview.loopbackReason,
                        version: overview.version,
                        pauses: pauses.all.filter { $0.bot == nil }.map { API.Pause($0) }))
            }.described("listBots", .bots, .json(API.BotList.self)).reaching(.listing),
            Route(.get, "/api/v1/bots/{bot}", .read, "A bot.") { call in
                let bot = try await site.bot(of: call)
                return try .json(
                    await shown(
                        bot, await site.operations.overview().bot(bot.name), try await site.store.pauses()))
            }.described("getBot", .bots, .json(API.Bot.self)),
            Route(.get, "/api/v1/bots/{bot}/resolved", .role(.viewer), "A bot's file with every default, as YAML.") {
                call in
                let name = try call.name("bot")
                var text = try await site.operations.resolved(bot: name)
                if let latest = try await site.store.latestIntegration(of: name),
                    let project = latest.recipe?.recognition
                {
                    text += "# project: \(project.sentence), as of \(latest.id)\n"
                }
                return .plain(text)
            }.described("getResolvedBot", .bots, .media("text/plain")),
            Route(
                .get, "/api/v1/bots/{bot}/plan", .read,
                "What the next push of each watched branch would run, archive and publish; at most 20 branches."
            ) { call in
                let plans = try await site.operations.pushPlans(bot: call.name("bot"))
                return try .json(API.Plan(plans, tools: site.operations.tools))
            }.described("getPlan", .plan, .json(API.Plan.self)).costing(.export),
            Route(
                .get, "/api/v1/bots/{bot}/webhook", .role(.operator), "How to connect the repository's host; ?forge=."
            ) { call in
                guard let forge = Forge(rawValue: call.query("forge") ?? Forge.push.rawValue) else {
                    throw Problem(400, "`forge` is one of \(Forge.allCases.map(\.rawValue).joined(separator: ", ")).")
                }
                return .plain(try await site.operations.webhookInstructions(bot: call.name("bot"), forge: forge))
            }.described(
                "getWebhook", .bots, query: [.word("forge", "The kind of forge; `push` by default.", Forge.self)],
                .media("text/plain")),
            Route(.get, "/api/v1/bots/{bot}/integrations", .read, "A bot's integrations, newest first.") { call in
                try await list(call, bot: site.bot(of: call).name)
            }.described(
                "listIntegrationsOfBot", .integrations, query: Self.filters, .json(API.List<API.Integration>.self)),
            Route(.get, "/api/v1/integrations", .read, "All integrations, newest first; ?state= ?ref= ?commit=.") {
                try await list($0, bot: nil)
            }.described("listIntegrations", .integrations, query: Self.filters, .json(API.List<API.Integration>.self))
                .reaching(.listing),
            Route(
                .post, "/api/v1/bots/{bot}/integrations", .role(.operator), "Queues an integration: {commit, clean}."
            ) { call in
                let wish = try await call.json(API.IntegrationRequest.self)
                let record = try await site.operations.integrate(
                    bot: call.name("bot"), revision: wish.commit, isClean: wish.clean ?? false, by: call.caller.name)
                try await site.record(.integrated, by: call, bot: record.id.bot, record.id, wish.commit)
                return try .json(API.Integration(record.outline, root: site.configuration.url), status: .created)
            }.described(
                "integrate", .integrations, body: API.IntegrationRequest.self,
                example: ["commit": "main", "clean": false],
                .json(API.Integration.self), status: 201),
        ]
    }

    private func shown(
        _ bot: BotRecord, _ specification: BotSpecification?, _ pauses: Pauses
    ) async -> API.Bot {
        // Only a bot with a schedule needs this query.
        let isScheduled = !bot.isRetired && specification?.schedule != nil
        return API.Bot(
            bot, specification: specification,
            nextScheduled: isScheduled
                ? await site.operations.nextScheduled(bot: bot.name, after: site.clock()) : nil,
            pause: pauses.bots[bot.name],
            root: site.configuration.url)
    }

    private func list(_ call: AuthorizedRequest, bot: Name?) async throws -> Response {
        var filter = IntegrationFilter(bot: bot)
        filter.bots = bot == nil ? call.bots : nil
        if let state = call.query("state") {
            guard ["queued", "running", "completed"].contains(state) else {
                throw Problem(400, "`state` is queued, running or completed.")
            }
            filter.state = state
        }
        filter.ref = call.ref("ref")
        if let text = call.query("commit") {
            guard let commit = CommitID(text) else { throw Problem(400, "`commit` is a full commit id.") }
            filter.commit = commit
        }
        let (limit, before) = try call.page()
        let page = try await site.store.integrations(filter, limit: limit, before: before)
        return try .json(
            API.List(
                page.items.map { API.Integration($0, root: site.configuration.url) }, next: page.next))
    }
}

extension Overview {
    func bot(_ name: Name) -> BotSpecification? { bots.first { $0.name == name } }
}
