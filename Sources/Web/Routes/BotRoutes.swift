import Forges
import HTTPTypes
import Hummingbird
import Integrations
import Model
import Storage

/// `/api/v1/bots…`: lists the bots and accepts requests for them.
struct BotRoutes: Sendable {
    let site: Site

    var routes: [Route] {
        [
            Route(.get, "/api/v1/bots", .read, "All bots, each with its latest integration.") { _ in
                let overview = await site.operations.overview()
                let specifications = Dictionary(overview.bots.map { ($0.name, $0) }) { first, _ in first }
                var items: [JSONValue] = []
                for bot in try await site.store.bots() {
                    items.append(await json(bot, specifications[bot.name]))
                }
                return .json([
                    "items": .array(items),
                    "next": nil, "problems": .array(overview.problems.map { .string($0) }),
                    "isolation": .string(overview.isolation.word),
                    "isolationReason": .init(overview.isolation.reason),
                    "loopbackReason": .init(overview.loopbackReason), "version": .string(overview.version),
                ])
            },
            Route(.get, "/api/v1/bots/{bot}", .read, "A bot.") { call in
                let bot = try await site.bot(of: call)
                return .json(await json(bot, await site.operations.overview().bot(bot.name)))
            },
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
            },
            Route(
                .get, "/api/v1/bots/{bot}/plan", .read,
                "What the next push of each watched branch would run, archive and publish; at most 20 branches."
            ) { call in
                let plans = try await site.operations.pushPlans(bot: call.name("bot"))
                return .json(JSONValue(plans, supervisor: site.operations.supervisor))
            }.costing(.export),
            Route(
                .get, "/api/v1/bots/{bot}/webhook", .role(.operator), "How to connect the repository's host; ?forge=."
            ) { call in
                guard let forge = Forge(rawValue: call.query("forge") ?? Forge.push.rawValue) else {
                    throw Problem(400, "`forge` is one of \(Forge.allCases.map(\.rawValue).joined(separator: ", ")).")
                }
                return .plain(try await site.operations.webhookInstructions(bot: call.name("bot"), forge: forge))
            },
            Route(.get, "/api/v1/bots/{bot}/integrations", .read, "A bot's integrations, newest first.") { call in
                try await list(call, bot: site.bot(of: call).name)
            },
            Route(.get, "/api/v1/integrations", .read, "All integrations, newest first; ?state= ?ref= ?commit=.") {
                try await list($0, bot: nil)
            },
            Route(
                .post, "/api/v1/bots/{bot}/integrations", .role(.operator), "Queues an integration: {commit, clean}."
            ) { call in
                let body = try await call.json(Body.self)
                let record = try await site.operations.integrate(
                    bot: call.name("bot"), revision: body.commit, isClean: body.clean ?? false, by: call.caller.name)
                return .json(JSONValue(record, attempts: nil), status: .created)
            },
        ]
    }

    private func json(_ bot: BotRecord, _ specification: BotSpecification?) async -> JSONValue {
        // Only a bot with a schedule needs this query.
        let isScheduled = !bot.isRetired && specification?.schedule != nil
        return JSONValue(
            bot, specification: specification,
            nextScheduled: isScheduled
                ? await site.operations.nextScheduled(bot: bot.name, after: site.clock()) : nil)
    }

    private struct Body: RequestBody {
        enum CodingKeys: CodingKey, CaseIterable { case commit, clean }

        var commit: String?
        var clean: Bool?
    }

    private func list(_ call: AuthorizedRequest, bot: Name?) async throws -> Response {
        var filter = IntegrationFilter(bot: bot)
        if let state = call.query("state") {
            guard ["queued", "running", "completed"].contains(state) else {
                throw Problem(400, "`state` is queued, running or completed.")
            }
            filter.state = state
        }
        if let ref = call.query("ref") {
            filter.ref = ref.hasPrefix("refs/") ? RefName(ref) : RefName(branch: ref)
        }
        if let text = call.query("commit") {
            guard let commit = CommitID(text) else { throw Problem(400, "`commit` is a full commit id.") }
            filter.commit = commit
        }
        let (limit, before) = try call.page()
        let page = try await site.store.integrations(filter, limit: limit, before: before)
        return .json(.list(page.items.map { JSONValue($0) }, next: page.next))
    }
}

extension Overview {
    func bot(_ name: Name) -> BotSpecification? { bots.first { $0.name == name } }
}
